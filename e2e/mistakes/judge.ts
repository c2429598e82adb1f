// The verdicts of Slipway's commands on one manifest, each in this process.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { fileOf, findKinds, type Judge, type Mistake } from './cases.ts';

export type Command = Exclude<Judge, 'server'>;

export interface Verdict {
  readonly ok: boolean;
  /** Errors and warnings as printed, without the directory of the file. */
  readonly lines: readonly string[];
}

export type Verdicts = ReadonlyMap<Command, Verdict>;

const COMMANDS: readonly Command[] = ['validate', 'render', 'plan', 'ignition'];

/** Only what a command acts on; it leaves other kinds out, as a dump of a cluster has many. */
const KINDS: Readonly<Record<Exclude<Command, 'validate'>, readonly string[]>> = {
  render: ['MachineConfig', 'MachineConfigPool', 'OSImageStream'],
  plan: ['MachineConfig', 'MachineConfigPool', 'OSImageStream', 'MachineConfiguration'],
  ignition: ['MachineConfig'],
};

/** Kinds that need a MachineConfig or a pool beside them for a plan and a rendering. */
const BESIDE: ReadonlySet<string> = new Set(['MachineConfiguration', 'OSImageStream']);

const BASE = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 50-base
  labels:
    machineconfiguration.openshift.io/role: worker
spec:
  kernelArguments: [nosmt]
`;

const judges = (command: Command, kinds: readonly string[]): boolean =>
  command === 'validate' || kinds.length === 0 || kinds.some((kind) => KINDS[command].includes(kind));

/** Writes the manifest to a file of `directory`, and gives it to every command that acts on its kinds. */
export async function judgeCase(directory: string, mistake: Mistake): Promise<Verdicts> {
  const file = join(directory, fileOf(mistake));
  await writeFile(file, mistake.manifest, { encoding: mistake.encoding ?? 'utf8' });
  const base = join(directory, 'base.yml');
  await writeFile(base, BASE);
  const kinds = findKinds(mistake);
  const fleet = kinds.length > 0 && kinds.every((kind) => BESIDE.has(kind)) ? [file, base] : [file];
  const verdicts = new Map<Command, Verdict>();
  for (const command of COMMANDS.filter((each) => judges(each, kinds))) {
    verdicts.set(command, await run(command, { file, fleet, pool: poolOf(mistake), directory }));
  }
  return verdicts;
}

interface Inputs {
  readonly file: string;
  readonly fleet: readonly string[];
  readonly pool: string;
  readonly directory: string;
}

async function run(command: Command, inputs: Inputs): Promise<Verdict> {
  const { out, err, code } = await runOn(command, inputs);
  // The result of the others is not about the manifest.
  const text = command === 'validate' || command === 'ignition' ? `${out}\n${err}` : err;
  const lines = text
    .split('\n')
    .map((line) => line.replaceAll(`${inputs.directory}/`, '').replaceAll(inputs.directory, 'DIR'));
  // A plan exits with 2 or 3 if something changes.
  return { ok: command === 'plan' ? code !== 1 : code === 0, lines: lines.filter((line) => isFinding(line)) };
}

function runOn(command: Command, { file, fleet, pool }: Inputs): ReturnType<typeof runInProcess> {
  const files = fleet.flatMap((each) => ['-f', each]);
  switch (command) {
    case 'validate':
      return runInProcess('validate', '-f', file);
    case 'render':
      return runInProcess('render', ...files, '--pool', pool, '-o', 'name', '--fetch-timeout', '1');
    case 'plan':
      return runInProcess('plan', '--offline', ...files, '--fetch-timeout', '1');
    case 'ignition':
      return runInProcess('ignition', 'validate', file);
  }
}

/** A pool of the manifest, or the one that its MachineConfig is for. */
function poolOf({ manifest }: Mistake): string {
  const pool = /kind: MachineConfigPool\nmetadata:\n {2}name: ([a-z]+)\n/.exec(manifest)?.[1];
  return pool ?? /\/role: (master|worker)\n/.exec(manifest)?.[1] ?? 'worker';
}

/** Neither what a command assumed, nor a summary. */
const isFinding = (line: string): boolean =>
  line !== '' && !/^(assumed|ignored|note|rendered-\w+-\w+): |: valid( |$)|^\d+ files?, /.test(line);

/** A directory for the files of the cases, which is removed afterwards. */
export async function withDirectory<T>(action: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-mistakes-'));
  try {
    return await action(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
