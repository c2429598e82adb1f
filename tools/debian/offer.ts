import { ToolsError } from '../controlplane/errors.ts';

/** One package as currently offered by apt's signed index. */
export interface Offer {
  name: string;
  version: string;
  /** The name of the file that `apt-get download` writes. */
  file: string;
  sha256: string;
}

const OFFER_PATTERN = /^'[^']+' (?<file>[a-z0-9][a-z0-9.+-]*_[^\s/]+\.deb) \d+ SHA256:(?<sha256>[0-9a-f]{64})$/gm;

/** Parses the output of `apt-get download --print-uris`, in the order of the requested packages. */
export function readOffers(output: string, wanted: readonly string[]): Offer[] {
  const offers = new Map<string, Offer>();
  for (const { groups } of output.matchAll(OFFER_PATTERN)) {
    const { file = '', sha256 = '' } = groups ?? {};
    const [name = '', version = ''] = file.split('_');
    // A file name cannot contain an epoch's colon.
    offers.set(name, { name, version: decodeURIComponent(version), file, sha256 });
  }
  return wanted.map((name) => {
    const offer = offers.get(name);
    if (offer !== undefined) return offer;
    throw new ToolsError(
      'SLW_TOOLS_PACKAGE',
      `Debian's package ${name}: apt offers no version of it with a SHA-256 sum: check /etc/apt/sources.list and \`apt-cache policy ${name}\``,
    );
  });
}

// The C library and its loader must both be the machine's.
const OF_THE_MACHINE = /^(libc6|libgcc-s1|libc-bin)$/;
const isLibrary = (name: string) => /^(lib|zlib)(?!js-|.*-dev$)/.test(name) && !OF_THE_MACHINE.test(name);

/** The shared libraries that these packages need, directly or indirectly, from `apt-cache depends --recurse`. */
export function findLibraries(graph: string, packages: readonly string[]): string[] {
  const needs = readGraph(graph);
  const found = new Set(packages);
  // A Set is walked in the order of insertion, what is added on the way too.
  for (const name of found) {
    for (const needed of needs.get(name) ?? []) if (isLibrary(needed)) found.add(needed);
  }
  return [...found].slice(new Set(packages).size);
}

function readGraph(text: string): Map<string, string[]> {
  const needs = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    const [, needed] = /^ {1,2}\|?(?:Pre)?Depends: ([^\s<>:]+)$/.exec(line) ?? [];
    if (needed !== undefined) current.push(needed);
    else if (/^[a-z0-9]/.test(line)) {
      current = [];
      needs.set(line.trim(), current);
    }
  }
  return needs;
}
