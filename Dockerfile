FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY . .
ARG VERSION=container
# The next build takes what this one downloaded and compiled.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
	VERSION="$VERSION" scripts/image /image

FROM debian:bookworm-slim
COPY --from=build /image/usr /usr
COPY --from=build /image/etc /etc
# As a child of what is copied, /data keeps its mode.
COPY --from=build --chown=10001:10001 /image/owned /
# In a container loopback is reached by nobody. With this address the program
# asks for a key:
#   docker run -e CODESAGE_API_KEY=… -p 127.0.0.1:8001:8001 -v codesage:/data codesage
ENV CODESAGE_DATA_DIR=/data CODESAGE_HOST=0.0.0.0
USER 10001:10001
VOLUME /data
EXPOSE 8001
ENTRYPOINT ["codesage"]
CMD ["serve"]
