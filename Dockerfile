# docker build -t electra-correct .
# docker run --rm -i electra-correct < article.txt
# docker run --rm -v "$PWD:/text" -u "$(id -u):$(id -g)" electra-correct --write docs

FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY constraints.txt /tmp/
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir -c /tmp/constraints.txt /wheels/*.whl pypdf pypdfium2 \
    && rm /tmp/constraints.txt \
    && useradd --create-home corrector
USER corrector
WORKDIR /text
ENTRYPOINT ["electra-correct"]
