FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=container
RUN VERSION="$VERSION" scripts/image /image

FROM debian:bookworm-slim
COPY --from=build /image/usr /usr
COPY --from=build /image/etc /etc
COPY --from=build --chown=10001:10001 /image/data /data
ENV CODESAGE_DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 8001
ENTRYPOINT ["codesage"]
CMD ["serve"]
