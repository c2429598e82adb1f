import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPath, inspectCached, makeOnce, storeCached } from '../controlplane/cache.ts';
import { showStep, terminalProgress } from '../controlplane/progress.ts';
import type { DebianOptions } from '../debian/debian.ts';
import { buildWithGo, failedBuild, goEnvironment, type GoProgram } from '../go.ts';
import { run } from '../run.ts';

const SOURCES = import.meta.dirname;
const MODULE = 'github.com/cri-o/cri-o';
const CRICTL = 'sigs.k8s.io/cri-tools';
const PROGRAM: GoProgram = { name: 'CRI-O', least: '1.26.2', needs: 'a C compiler with a static C library' };
const NAMES = ['crio', 'pinns', 'crictl'] as const;

/** Signatures are verified in Go, and image stores that need C libraries are excluded. */
const TAGS = [
  'containers_image_openpgp',
  'containers_image_ostree_stub',
  'exclude_graphdriver_btrfs',
  'exclude_graphdriver_devicemapper',
];

/** CRI-O, the program that holds its namespaces, and its command-line client. Plain data. */
export interface CrioPrograms {
  /** Of CRI-O: 1.34.0. */
  version: string;
  crio: string;
  pinns: string;
  crictl: string;
}

/** Built once into the user's cache from the versions in the go.mod files, with sources verified by go.sum. */
export async function resolveCrio({
  progress = terminalProgress(),
  env = process.env,
}: DebianOptions = {}): Promise<CrioPrograms> {
  const files = ['go.mod', 'go.sum', 'crictl/go.mod', 'crictl/go.sum'];
  const pins = await Promise.all(files.map((name) => readFile(join(SOURCES, name), 'utf8')));
  const key = createHash('sha256').update(JSON.stringify([pins, TAGS, compileArguments('', ''), process.arch]));
  const directory = cachedPath(env, `crio-${key.digest('hex').slice(0, 12)}`);
  const version = parseModuleVersion(MODULE, pins[0]);
  await makeOnce(directory, {
    doing: 'is building CRI-O',
    progress,
    isThere: () => isComplete(directory),
    async make(temporary) {
      const step = { doing: 'building CRI-O (about 10 minutes on 2 cores, once)', done: `built CRI-O ${version}` };
      await showStep(progress, step, (tell) =>
        buildAll(temporary, { crictl: parseModuleVersion(CRICTL, pins[2]), env, tell }),
      );
      for (const name of NAMES) await storeCached(join(temporary, name), directory);
    },
  });
  const [crio, pinns, crictl] = NAMES.map((name) => join(directory, name)) as [string, string, string];
  return { version, crio, pinns, crictl };
}

interface Recipe {
  /** The version that crictl reports. */
  readonly crictl: string;
  readonly env: NodeJS.ProcessEnv;
  readonly tell: (detail: string) => void;
}

function parseModuleVersion(module: string, goMod = ''): string {
  const [, version = ''] = new RegExp(String.raw`^(?:require)?\s*${module} v(\S+)`, 'm').exec(goMod) ?? [];
  return version;
}

async function isComplete(directory: string): Promise<boolean> {
  const states = await Promise.all(NAMES.map((name) => inspectCached(join(directory, name))));
  return states.every((state) => state === 'good');
}

async function buildAll(temporary: string, { crictl, env, tell }: Recipe): Promise<void> {
  const out = (name: string) => ['-o', join(temporary, name)];
  // The image store enters user namespaces with a little C.
  const withC = goEnvironment(env, '1');
  const crioArguments = ['-ldflags=-s -w', `-tags=${TAGS.join()}`, ...out('crio'), `${MODULE}/cmd/crio`];
  await buildWithGo(PROGRAM, crioArguments, { cwd: SOURCES, env: withC, tell });
  await compilePinns(join(temporary, 'pinns'), withC);
  const stamp = `-ldflags=-s -w -X ${CRICTL}/pkg/version.Version=v${crictl}`;
  await buildWithGo(PROGRAM, [stamp, ...out('crictl'), `${CRICTL}/cmd/crictl`], {
    cwd: join(SOURCES, 'crictl'),
    env: goEnvironment(env, '0'),
    tell: (detail) => tell(`crictl, ${detail}`),
  });
}

/** Like CRI-O's Makefile: one static program from three files. */
const COMPILE = ['-std=c99', '-Os', '-Wall', '-Wextra', '-static', '-s'];
const compileArguments = (sources: string, path: string): string[] => {
  const files = ['pinns.c', 'sysctl.c'].map((name) => join(sources, 'pinns/src', name));
  return [...COMPILE, ...files, '-o', path];
};

async function compilePinns(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const sources = await run('go', ['list', '-m', '-f', '{{.Dir}}', MODULE], { cwd: SOURCES, env });
    await run('cc', compileArguments(sources.trim(), path), { env });
  } catch (error) {
    throw failedBuild(PROGRAM, error);
  }
}
