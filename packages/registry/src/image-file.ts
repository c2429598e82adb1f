import { quote } from '@slipway/base/text';
import type { Requester, Image } from './requester.ts';
import { RegistryError } from './errors.ts';
import { FileSearch, normalisePath, type Verdict } from './file-search.ts';
import { searchLayer } from './layer.ts';
import { blobUrl } from './pull-sources.ts';
import type { Layer } from './registry.ts';

export interface FileReaderOptions {
  readonly ask: Requester;
  readonly layerMs: number;
  readonly layerBytes: number;
}

export interface FileRequest {
  readonly path: string;
  readonly maxBytes: number;
  /** From bottom to top. */
  readonly layers: readonly Layer[];
}

/** Reads one file from the layers of an image. Null: the image has no such file. */
export type ReadFile = (image: Image, question: FileRequest) => Promise<Uint8Array | null>;

const MAX_LINKS = 5;

interface Step {
  readonly path: string;
  /** The layer to start from. */
  readonly top: number;
}

export function createFileReader({ ask, layerMs, layerBytes }: FileReaderOptions): ReadFile {
  async function searchIn(image: Image, layer: Layer, start: () => FileSearch): Promise<FileSearch> {
    const { search, verdict } = await ask(image, {
      what: `layer ${layer.digest}`,
      url: (place) => blobUrl(place, layer.digest),
      timeoutMs: layerMs,
      async read(answer, asked) {
        // A new search per attempt: results of an incomplete transfer are discarded.
        const search = start();
        return { search, verdict: await searchLayer(answer.body, layer, search, { mostUnpacked: layerBytes }, asked) };
      },
    });
    if (verdict.kind !== 'damaged') return search;
    const text = `${image.reference}: layer ${layer.digest}: expected a tar archive (plain, gzip or zstd), found one that cannot be unpacked (${verdict.why}). Its digest is correct, so the image was built this way. Rebuild and push it`;
    throw new RegistryError('SLW_REGISTRY_LAYER', text);
  }

  /** Searches the layers from the top down. Also returns the layer with the result. */
  async function findVerdict(
    image: Image,
    { path, top }: Step,
    { layers, maxBytes }: FileRequest,
  ): Promise<{ verdict: Verdict; at: number }> {
    let folders: ReadonlySet<string> = new Set();
    for (let at = top; at >= 0; at -= 1) {
      const layer = layers[at];
      if (layer === undefined) continue;
      const above = folders;
      const search = await searchIn(image, layer, () => new FileSearch(path, maxBytes, above));
      if (search.verdict.kind !== 'nothing') return { verdict: search.verdict, at };
      folders = search.folders;
    }
    return { verdict: { kind: 'gone' }, at: 0 };
  }

  return async (image, question) => {
    const path = normalisePath(question.path);
    if (path === undefined || path === '') {
      const text = `${image.reference}: file ${quote(question.path)}: expected the path of a file in the image, without ..`;
      throw new RegistryError('SLW_REGISTRY_FILE', text);
    }
    const about = `${image.reference}: file /${path}`;
    const topmost = question.layers.length - 1;
    let step: Step = { path, top: topmost };
    for (let followed = 0; followed <= MAX_LINKS; followed += 1) {
      const { verdict, at } = await findVerdict(image, step, question);
      if (verdict.kind !== 'link') return readContent(verdict, about, question.maxBytes);
      step = { path: verdict.target, top: verdict.hard ? at : topmost };
    }
    const text = `${about}: expected a file, found a chain of more than ${MAX_LINKS} links, the last one to ${quote(`/${step.path}`)}. Request the file directly`;
    throw new RegistryError('SLW_REGISTRY_FILE', text);
  };
}

function readContent(verdict: Exclude<Verdict, { kind: 'link' }>, about: string, maxBytes: number): Uint8Array | null {
  switch (verdict.kind) {
    case 'file':
      return verdict.bytes;
    case 'too large': {
      const text = `${about}: expected at most ${maxBytes} bytes, found ${verdict.size}. Larger files are not supported`;
      throw new RegistryError('SLW_REGISTRY_LIMIT', text);
    }
    case 'not a file': {
      const text = `${about}: expected a file, found a ${verdict.type}. Request a file`;
      throw new RegistryError('SLW_REGISTRY_FILE', text);
    }
    default:
      return null;
  }
}
