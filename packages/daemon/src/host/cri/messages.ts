// The part of the container runtime interface (CRI, runtime.v1) that the daemon speaks: the fields that it uses and no others.
// Names and numbers are those of the interface; what else a runtime sends is passed over.
import protobuf from 'protobufjs/light.js';

const text = (id: number) => ({ type: 'string', id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });

const schema = protobuf.Root.fromJSON({
  nested: {
    VersionRequest: { fields: {} },
    VersionResponse: { fields: { runtimeName: text(2), runtimeVersion: text(3) } },
    ListImagesRequest: { fields: {} },
    ListImagesResponse: { fields: { images: many('Image', 1) } },
    Image: {
      fields: {
        id: text(1),
        repoTags: many('string', 2),
        repoDigests: many('string', 3),
        size: { type: 'uint64', id: 4 },
        pinned: { type: 'bool', id: 8 },
      },
    },
    ImageFsInfoRequest: { fields: {} },
    ImageFsInfoResponse: { fields: { imageFilesystems: many('FilesystemUsage', 1) } },
    FilesystemUsage: { fields: { fsId: { type: 'FilesystemIdentifier', id: 2 } } },
    FilesystemIdentifier: { fields: { mountpoint: text(1) } },
    PullImageRequest: { fields: { image: { type: 'ImageSpec', id: 1 }, auth: { type: 'AuthConfig', id: 2 } } },
    PullImageResponse: { fields: { imageRef: text(1) } },
    ImageSpec: { fields: { image: text(1) } },
    AuthConfig: { fields: { username: text(1), password: text(2) } },
  },
});

interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  readonly pinned: boolean;
}

interface FilesystemUsage {
  readonly fsId: { readonly mountpoint: string } | null;
}

interface PullImageRequest {
  readonly image: { readonly image: string };
  readonly auth?: { readonly username: string; readonly password: string };
}

/** One call of the interface. `decode` throws where the bytes are no such message. */
export interface Method<Request, Response> {
  readonly path: string;
  encode(this: void, request: Request): Buffer;
  decode(this: void, bytes: Uint8Array): Response;
}

export const methods = {
  version: method<object, { runtimeName: string; runtimeVersion: string }>('RuntimeService', 'Version'),
  listImages: method<object, { images: readonly Image[] }>('ImageService', 'ListImages'),
  imageFsInfo: method<object, { imageFilesystems: readonly FilesystemUsage[] }>('ImageService', 'ImageFsInfo'),
  pullImage: method<PullImageRequest, { imageRef: string }>('ImageService', 'PullImage'),
};

function method<Request extends object, Response>(service: string, name: string): Method<Request, Response> {
  const request = schema.lookupType(`${name}Request`);
  const response = schema.lookupType(`${name}Response`);
  return {
    path: `/runtime.v1.${service}/${name}`,
    encode: (message) => Buffer.from(request.encode(message).finish()),
    // Every field is there, with its default where the runtime sent none: the types above say no less than the schema.
    decode: (bytes) => response.toObject(response.decode(bytes), { defaults: true, longs: Number }) as Response,
  };
}
