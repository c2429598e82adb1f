import type { Identity } from '@slipway/testing/certificates';
import { type RequestHandler, type FakeServer, respondJson, startFakeServer } from '@slipway/testing/fake-http-server';
import type { Blob, TestImage } from './image.ts';

/**
 * A registry over real HTTP on the loopback interface. It serves the content that a test stores, and fails on request
 * in ways that a healthy registry cannot be made to.
 */
export interface MisbehavingRegistry extends Pick<FakeServer, 'host' | 'requests' | 'fail'>, AsyncDisposable {
  /** The requested paths, shortened: `manifests/1.0`, `blobs/sha256:…`, `token`. */
  readonly paths: string[];
  /** Stores an image in every repository, by its digests and this tag. */
  put(tag: string, image: TestImage): void;
  putManifest(tag: string, manifest: Blob): void;
  putBlob(blob: Blob): void;
}

export async function startMisbehavingRegistry(tls?: Identity): Promise<MisbehavingRegistry> {
  const manifests = new Map<string, Blob>();
  const blobs = new Map<string, Blob>();

  const give: RequestHandler = ({ path }, response) => {
    const [, kind, name = ''] = /\/(manifests|blobs)\/(.+)$/.exec(path) ?? [];
    const blob = kind === 'manifests' ? manifests.get(name) : blobs.get(name);
    if (blob === undefined) {
      const code = kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'BLOB_UNKNOWN';
      return respondJson(response, 404, { errors: [{ code }] });
    }
    const type = kind === 'manifests' ? blob.mediaType : 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'docker-content-digest': blob.digest }).end(blob.bytes);
  };

  const putManifest = (tag: string, manifest: Blob): void => {
    manifests.set(tag, manifest).set(manifest.digest, manifest);
  };
  const putBlob = (blob: Blob): void => {
    blobs.set(blob.digest, blob);
  };

  const server = await startFakeServer(give, tls === undefined ? {} : { tls });
  return {
    ...server,
    get paths() {
      return server.requests.map(({ path }) => path.replace(/^.*\/(?=(manifests|blobs)\/)|^\//, ''));
    },
    put(tag, { manifest, config, layers }) {
      putManifest(tag, manifest);
      for (const blob of [config, ...layers]) putBlob(blob);
    },
    putManifest,
    putBlob,
  };
}
