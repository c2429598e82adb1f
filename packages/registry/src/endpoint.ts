import type { Place } from './places.ts';

/** Docker Hub answers under another name than its images have, and its own images stand below library/. */
function serving({ host, repository }: Place): { host: string; repository: string } {
  if (host !== 'docker.io') return { host, repository };
  return { host: 'registry-1.docker.io', repository: repository.includes('/') ? repository : `library/${repository}` };
}

export function manifestUrl(place: Place, reference: string): URL {
  return urlOf(place, 'manifests', reference);
}

export function blobUrl(place: Place, digest: string): URL {
  return urlOf(place, 'blobs', digest);
}

function urlOf(place: Place, kind: string, name: string): URL {
  const { host, repository } = serving(place);
  return new URL(`${place.plainHttp ? 'http' : 'https'}://${host}/v2/${repository}/${kind}/${name}`);
}

/** What a token has to allow: to read, and nothing more. */
export const pullScope = (place: Place): string => `repository:${serving(place).repository}:pull`;
