// The connection to the runtime's socket. A lost connection is reopened by the next call. While there is none, calls
// fail immediately, and callers decide when to retry.
import { Client, credentials, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';

/** A list of 10,000 images is about 5 MB. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const NO_ANSWER = { code: status.INTERNAL, details: 'an answer without a message' };

export interface CallOptions {
  /** Null: no timeout. */
  readonly withinMs: number | null;
  readonly signal: AbortSignal;
}

/** `code`: the gRPC code. `said`: the runtime's message, or the problem of the connection. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: number;
  readonly said: string;

  constructor({ code, details }: { readonly code: number; readonly details: string }) {
    super(`gRPC code ${code}: ${details}`);
    this.code = code;
    this.said = details;
  }
}

export interface Connection {
  /** Rejects with a CallError, or with the signal's reason. */
  call<Request, Response>(method: Method<Request, Response>, request: Request, options: CallOptions): Promise<Response>;
  close(): void;
}

export function connect(socket: string, maxBytes = MAX_MESSAGE_BYTES): Connection {
  const client = new Client(`unix://${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': maxBytes,
    'grpc.initial_reconnect_backoff_ms': 100,
    // The maximum delay until a restarted runtime is noticed.
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.enable_channelz': 0,
  });
  return {
    call: (method, request, { withinMs, signal }) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const call = client.makeUnaryRequest(
          method.path,
          method.encode,
          method.decode,
          request,
          withinMs === null ? {} : { deadline: Date.now() + withinMs },
          (error, response) => {
            signal.removeEventListener('abort', onAbort);
            if (response !== undefined) resolve(response);
            else reject(signal.aborted ? signal.reason : new CallError(error ?? NO_ANSWER));
          },
        );
        const onAbort = () => call.cancel();
        signal.addEventListener('abort', onAbort, { once: true });
      }),
    close: () => client.close(),
  };
}

// The part of the container runtime interface (CRI, runtime.v1) that the daemon uses. Names and numbers are those of
// the interface. Other fields are ignored.

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

/** One call of the interface. `decode` throws if the bytes are not such a message. */
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
    // Every field is present, with its default if the runtime did not send it, so the types above are complete.
    decode: (bytes) => response.toObject(response.decode(bytes), { defaults: true, longs: Number }) as Response,
  };
}
