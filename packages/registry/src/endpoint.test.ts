import { describe, expect, it } from 'vitest';
import { blobUrl, manifestUrl, pullScope } from './endpoint.ts';

const place = (host: string, repository: string, plainHttp = false) => ({ host, repository, plainHttp });

describe('the address of an image', () => {
  it.each([
    [place('quay.io', 'a/b'), 'https://quay.io/v2/a/b/manifests/1', 'repository:a/b:pull'],
    [place('localhost:5000', 'a', true), 'http://localhost:5000/v2/a/manifests/1', 'repository:a:pull'],
    [
      place('docker.io', 'busybox'),
      'https://registry-1.docker.io/v2/library/busybox/manifests/1',
      'repository:library/busybox:pull',
    ],
    [place('docker.io', 'a/b'), 'https://registry-1.docker.io/v2/a/b/manifests/1', 'repository:a/b:pull'],
  ])('%j', (place, url, scope) => {
    expect(manifestUrl(place, '1').href).toBe(url);
    expect(blobUrl(place, 'sha256:0a').href).toBe(url.replace('manifests/1', 'blobs/sha256:0a'));
    expect(pullScope(place)).toBe(scope);
  });
});
