# The image of the operator. images/operator.ts builds the same image without Docker.
#   docker buildx build --platform linux/amd64,linux/arm64 --tag ml-operator:0.1.0 .

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lock file also pins the Node in the image, with one package per architecture.
RUN npm ci --omit=dev \
 && mkdir -p /image/usr/local/bin \
 && mv node_modules/node-linux-*/bin/node /image/usr/local/bin/node \
 && rm -r node_modules/node-linux-* node_modules/.bin \
 && find node_modules -type f ! -name '*.js' ! -name '*.cjs' ! -name '*.mjs' ! -name '*.json' ! -name '*.node' -delete
COPY src src
RUN find src -name '*.test.ts' -delete && mkdir /image/app && cp -r package.json node_modules src /image/app/

FROM debian:bookworm-slim AS libraries
WORKDIR /packages
RUN apt-get update && apt-get download libc6 libgcc-s1 libstdc++6 \
 && for package in *.deb; do dpkg-deb --extract "$package" /image; done \
 && rm -r /image/usr/share

FROM scratch
COPY --from=libraries /image /
COPY --from=build /image /
WORKDIR /app
ENV NODE_ENV=production
USER 65532
ENTRYPOINT ["/usr/local/bin/node", "/app/src/main.ts"]
CMD ["--help"]
