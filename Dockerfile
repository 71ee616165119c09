# The image of the operator. `make image` builds it with buildah, and images/operator.ts describes the same content.
#   docker buildx build --platform linux/amd64,linux/arm64 --tag ml-operator:0.1.0 .

# Debian with Node and npm. Only its C and C++ libraries become part of the image.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM $BASE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lock file also pins the Node in the image, with one package per architecture.
RUN npm ci --omit=dev --prefer-offline \
 && mkdir -p /image/usr/local/bin \
 && mv node_modules/node-linux-*/bin/node /image/usr/local/bin/node \
 && rm -r node_modules/node-linux-* node_modules/.bin node_modules/.package-lock.json \
 && find node_modules -type f -path '*/.*' -delete \
 && find node_modules -type f ! -name '*.js' ! -name '*.cjs' ! -name '*.mjs' ! -name '*.json' ! -name '*.node' -delete \
 && find node_modules -type d -empty -delete
COPY src src
RUN find src -name '*.test.ts' -delete && mkdir /image/app && cp -r package.json node_modules src /image/app/
# dpkg lists files of packages that are installed, so this step needs no package source.
RUN for file in $(dpkg-query --listfiles libc6 libgcc-s1 libstdc++6 | grep -E '^(/usr)?/lib(64)?/'); \
    do if [ -L "$file" ] || [ -f "$file" ]; then cp --parents --no-dereference "$file" /image/; fi; done \
 && find /image -type d -exec chmod 755 {} + && find /image/app -type f -exec chmod 644 {} +

FROM scratch
COPY --from=build /image /
WORKDIR /app
ENV NODE_ENV=production
USER 65532
ENTRYPOINT ["/usr/local/bin/node", "/app/src/main.ts"]
CMD ["--help"]
