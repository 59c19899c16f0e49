# The server in a container, with nothing else in it: no shell, no package manager, no root.
#
#   docker build -t ebb:0.1.0 .
#   docker run -d --name ebb --read-only --cap-drop ALL -p 127.0.0.1:27017:27017 -v ebb:/var/lib/ebb \
#     -e MONGO_INITDB_ROOT_USERNAME=root -e MONGO_INITDB_ROOT_PASSWORD=... ebb:0.1.0
#
# docs/operations.md, "Containers", says what else can be set.

FROM node:22-bookworm-slim AS portal
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web ./
RUN npm run build

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
COPY --from=portal /src/web/dist /portal
ENV EBB_PORTAL=required EBB_PORTAL_DIST=/portal
# The folder of data belongs to the server, so that a volume that begins empty does, too.
RUN cargo build --release --locked -p ebb \
    && strip --strip-debug target/release/ebb \
    && mkdir /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/release/ebb /usr/bin/ebb
COPY --from=build /src/LICENSE-MIT /src/LICENSE-APACHE /usr/share/doc/ebb/
COPY --from=build --chown=65532:65532 --chmod=700 /data /var/lib/ebb
USER 65532:65532
# Other containers are other machines: the MongoDB API starts with a login, or with EBB_MONGO_NO_AUTH=true.
# The NoSQL API, EBB_COSMOS_ADDR=0.0.0.0:8081, needs keys of its own, EBB_KEY_FILE.
ENV EBB_DATA_DIR=/var/lib/ebb \
    EBB_MONGO_ADDR=0.0.0.0:27017 \
    EBB_COSMOS_ADDR=off \
    EBB_ADMIN_ADDR=0.0.0.0:8080
VOLUME /var/lib/ebb
EXPOSE 27017 8081 8080
# It ends in peace within about ten seconds.
STOPSIGNAL SIGTERM
# A long journal is read before it is ready.
HEALTHCHECK --interval=5s --timeout=3s --start-period=15m --retries=3 CMD ["/usr/bin/ebb", "admin", "health"]
ENTRYPOINT ["/usr/bin/ebb"]
CMD ["serve"]
