import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPath, inspectCached, makeOnce, storeCached } from '../controlplane/cache.ts';
import { showStep, terminalProgress } from '../controlplane/progress.ts';
import type { DebianOptions } from '../debian/debian.ts';
import { buildWithGo, failedBuild, goEnvironment, type GoProgram } from '../go.ts';
import { run } from '../run.ts';

const SOURCES = import.meta.dirname;
const PROGRAM: GoProgram = { name: 'Cluster API', least: '1.25', needs: 'nothing else' };

/** `config`: the manifests of a program, in its module. */
const parts = {
  core: { package: 'sigs.k8s.io/cluster-api', module: 'sigs.k8s.io/cluster-api', config: 'config' },
  infrastructure: {
    package: 'sigs.k8s.io/cluster-api/test/infrastructure/docker',
    module: 'sigs.k8s.io/cluster-api/test',
    config: 'infrastructure/docker/config',
  },
} as const;

type PartName = keyof typeof parts;
const partNames: readonly PartName[] = ['core', 'infrastructure'];

/** What a part is installed from: CRDs, and registrations of admission webhooks. */
const MANIFESTS = ['crd/bases/*.yaml', 'webhook/manifests.yaml'];

/** A controller manager of Cluster API. Plain data. */
export interface ClusterApiProgram {
  readonly path: string;
  /** A YAML file with its CRDs and admission webhooks, as its module ships them. */
  readonly manifests: string;
}

/** `core`: MachineSets, MachineDeployments, Machines. `infrastructure`: the provider whose machines are in memory. */
export type ClusterApiPrograms = Readonly<Record<PartName, ClusterApiProgram>> & { readonly version: string };

/** Built once into the user's cache from the versions in go.mod, with sources verified by go.sum. */
export async function resolveClusterApi({
  progress = terminalProgress(),
  env = process.env,
}: DebianOptions = {}): Promise<ClusterApiPrograms> {
  const pins = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(join(SOURCES, name), 'utf8')));
  const [, version = ''] = /^\s*sigs\.k8s\.io\/cluster-api v(\S+)/m.exec(pins[0] ?? '') ?? [];
  const key = createHash('sha256')
    .update(JSON.stringify([pins, parts, MANIFESTS, process.arch]))
    .digest('hex');
  const directory = cachedPath(env, `cluster-api-${key.slice(0, 12)}`);
  const programs = {
    version,
    core: programIn(directory, 'core'),
    infrastructure: programIn(directory, 'infrastructure'),
  };
  const files = partNames.flatMap((name) => [programs[name].path, programs[name].manifests]);
  await makeOnce(directory, {
    doing: 'is building Cluster API',
    progress,
    isThere: async () => (await Promise.all(files.map(inspectCached))).every((state) => state === 'good'),
    async make(temporary) {
      const goEnv = goEnvironment(env, '0');
      const step = { doing: 'building Cluster API (about 12 CPU-minutes, once)', done: `built Cluster API ${version}` };
      await showStep(progress, step, async (tell) => {
        for (const name of partNames) {
          const build = { cwd: SOURCES, env: goEnv, tell: (detail: string) => tell(`${name}, ${detail}`) };
          await buildWithGo(PROGRAM, ['-ldflags=-s -w', '-o', join(temporary, name), parts[name].package], build);
          await collectManifests(name, programIn(temporary, name).manifests, goEnv);
        }
      });
      for (const name of partNames)
        for (const file of Object.values(programIn(temporary, name))) await storeCached(file, directory);
    },
  });
  return programs;
}

const programIn = (directory: string, name: PartName): ClusterApiProgram => ({
  path: join(directory, name),
  manifests: join(directory, `${name}.yaml`),
});

async function collectManifests(name: PartName, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { module, config } = parts[name];
  const listed = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: SOURCES, env }).catch(
    (error: unknown) => {
      throw failedBuild(PROGRAM, error);
    },
  );
  const root = join(listed.trim(), config);
  const files = MANIFESTS.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted());
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  await writeFile(path, texts.join('\n---\n'));
}
