// The part of the stand-in that replaces podman.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StandInResult, Failed } from './stand-in-result.ts';
import { majorOf, type StandInState } from './stand-in-state.ts';

type Verb = (state: StandInState, args: readonly string[]) => StandInResult;

const VERBS: Readonly<Record<string, Verb>> = {
  '--version': () => ({ stdout: 'podman stand-in, this is not podman\n' }),
  image: (state, args) => ({ status: state.pulled.includes(args.at(-1) ?? '') ? 0 : 1 }),
  pull,
  create,
  cp,
  rm: (state, args) => {
    const { [args.at(-1) ?? '']: _gone, ...containers } = state.containers;
    return { state: { ...state, containers } };
  },
};

export function runPodman(state: StandInState, [verb = '', ...args]: readonly string[]): StandInResult {
  const run = VERBS[verb];
  if (run === undefined) throw new Failed(`unrecognized command \`podman ${verb}\``, 125);
  return run(state, args);
}

function pull(state: StandInState, args: readonly string[]): StandInResult {
  const image = args.at(-1) ?? '';
  if (state.registry[image] === undefined) {
    throw new Failed(`initializing source docker://${image}: reading manifest in ${image}: manifest unknown`, 125);
  }
  return {
    stdout: 'stand-in\n',
    stderr: `Trying to pull ${image}...\nCopying blob sha256:0123\nWriting manifest to image destination\n`,
    state: { ...state, pulled: [...new Set([...state.pulled, image])] },
  };
}

function create(state: StandInState, args: readonly string[]): StandInResult {
  const name = args[args.indexOf('--name') + 1] ?? '';
  const image = args.at(-1) ?? '';
  if (state.containers[name] !== undefined) throw new Failed(`the container name "${name}" is already in use`, 125);
  if (state.registry[image] === undefined) throw new Failed(`${image}: image not known`, 125);
  const pulled = [...new Set([...state.pulled, image])];
  return { stdout: 'stand-in\n', state: { ...state, pulled, containers: { ...state.containers, [name]: image } } };
}

function cp(state: StandInState, [from = '', to = '']: readonly string[]): StandInResult {
  const image = state.containers[from.split(':')[0] ?? ''];
  if (image === undefined) throw new Failed(`no container with name or ID "${from}" found: no such container`, 125);
  const directory = join(state.root, to, 'usr/share/rpm-ostree/extensions');
  mkdirSync(directory, { recursive: true });
  const { packages = [], version } = state.registry[image] ?? {};
  for (const name of packages) writeFileSync(join(directory, `${name}.rpm`), majorOf(version));
  return {};
}
