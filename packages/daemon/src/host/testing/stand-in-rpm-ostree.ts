// The part of the stand-in that replaces rpm-ostree.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StandInResult, Failed } from './stand-in-result.ts';
import {
  buildArguments,
  computeChecksum,
  DEFAULT_VERSION,
  majorOf,
  type StandInDeployment,
  type StandInState,
} from './stand-in-state.ts';

const QUEUED = 'Changes queued for next boot. Run "systemctl reboot" to start a reboot\n';
const STORAGE = 'ostree-unverified-image:containers-storage:';
const REGISTRY = 'ostree-unverified-registry:';
const REPOSITORY = '/etc/yum.repos.d/coreos-extensions.repo';

type Verb = (state: StandInState, args: readonly string[]) => StandInResult;

const VERBS: Readonly<Record<string, Verb>> = {
  '--version': () => ({
    stdout:
      "rpm-ostree:\n Version: '2026.2'\n Git: stand-in, this is not rpm-ostree\n Features:\n  - rust\n  - container\n",
  }),
  status,
  rebase,
  kargs,
  cleanup,
  override,
  update,
};

export function runRpmOstree(state: StandInState, [verb = '', ...args]: readonly string[]): StandInResult {
  const run = VERBS[verb];
  if (run === undefined) throw new Failed(`Unknown command '${verb}'`);
  if (state.isComposefs && verb !== '--version') throw new Failed('This system was not booted via libostree.');
  return run(state, args);
}

const first = ({ staged, booted }: StandInState): StandInDeployment => staged ?? booted;

function stage(state: StandInState, staged: StandInDeployment, stdout = ''): StandInResult {
  return { stdout: `${stdout}Staging deployment...done\n${QUEUED}`, state: { ...state, staged } };
}

function status(state: StandInState, args: readonly string[]): StandInResult {
  const { booted, staged } = state;
  const deployments = [...(staged === null ? [] : [describe(staged, 'staged')]), describe(booted, 'booted')];
  return {
    stdout: JSON.stringify({
      'stand-in': 'this is not rpm-ostree',
      deployments,
      transaction: null,
      'cached-update': null,
      'update-driver': null,
    }),
    status: args.includes('--pending-exit-77') && staged !== null ? 77 : 0,
  };
}

function describe(deployment: StandInDeployment, is: 'booted' | 'staged'): object {
  const digest = /sha256:[0-9a-f]+$/.exec(deployment.reference)?.[0];
  const checksum = computeChecksum(deployment);
  return {
    id: `rhcos-${checksum}.0`,
    osname: 'rhcos',
    checksum,
    serial: 0,
    booted: is === 'booted',
    staged: is === 'staged',
    pinned: false,
    unlocked: 'none',
    version: deployment.version,
    timestamp: 1_767_225_600,
    'container-image-reference': deployment.reference,
    ...(digest !== undefined && { 'container-image-reference-digest': digest }),
    'base-commit-meta': {},
    packages: deployment.packages,
    'requested-packages': deployment.packages,
    'requested-base-removals': deployment.removals,
    'base-remote-replacements': {},
    'regenerate-initramfs': false,
  };
}

function rebase(state: StandInState, args: readonly string[]): StandInResult {
  const reference = args.find((argument) => !argument.startsWith('--')) ?? '';
  if (reference === first(state).reference) throw new Failed(`Old and new refs are equal: ${reference}`);
  const stdout = `Pulling manifest: ${reference}\n`;
  const staged = { ...first(state), reference, version: pulledVersion(state, reference) };
  resolvePackages(state, staged);
  return stage(state, staged, stdout);
}

function pulledVersion(state: StandInState, reference: string): string {
  const stored = reference.startsWith(STORAGE);
  const image = reference.slice((stored ? STORAGE : REGISTRY).length);
  const found = state.registry[image];
  if (found === undefined || (stored && !state.pulled.includes(image))) {
    throw new Failed(
      `Creating importer: failed to invoke method OpenImage: failed to invoke method OpenImage: reading manifest ${image}: manifest unknown`,
    );
  }
  if (!found.bootable) {
    throw new Failed('Preparing import: Fetching manifest: Target image does not have ostree.bootable label');
  }
  return found.version ?? DEFAULT_VERSION;
}

/**
 * Every transaction that may reach a repository resolves all requested packages again, not only the added ones, from the
 * repositories that exist at this moment.
 */
function resolvePackages(state: StandInState, { packages, version }: StandInDeployment): void {
  const path = join(state.root, REPOSITORY);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const directory = /^baseurl=(.*)$/m.exec(text)?.[1];
  const pathOf = (name: string) => join(state.root, directory ?? 'none', `${name}.rpm`);
  const missing = packages.filter((name) => !existsSync(pathOf(name)));
  if (missing.length > 0) throw new Failed(`Packages not found: ${missing.join(', ')}`);
  const other = packages.find((name) => readFileSync(pathOf(name), 'utf8') !== majorOf(version));
  if (other === undefined) return;
  throw new Failed(
    `Could not depsolve transaction; 1 problem detected:\n Problem: conflicting requests\n  - nothing provides libc.so.6 needed by ${other}`,
  );
}

function kargs(state: StandInState, args: readonly string[]): StandInResult {
  if (args.includes('--import-proc-cmdline')) {
    return { stdout: `BOOT_IMAGE=(hd0,gpt3)/vmlinuz ${buildArguments(state.booted).join(' ')}\n` };
  }
  const before = first(state);
  const values = (option: string) =>
    args.filter((argument) => argument.startsWith(`${option}=`)).map((argument) => argument.slice(option.length + 1));
  const [removed, added] = [values('--delete-if-present'), values('--append')];
  if (args.length === 0) return { stdout: `${buildArguments(before).join(' ')}\n` };
  // In any order on the command line: arguments are added first, and only those present before this call are removed.
  const after = [...before.kernelArguments, ...added];
  for (const argument of removed) {
    if (before.kernelArguments.includes(argument)) after.splice(after.indexOf(argument), 1);
  }
  if (added.length === 0 && after.length === before.kernelArguments.length) {
    return { stdout: 'No changes.\n', status: args.includes('--unchanged-exit-77') ? 77 : 0 };
  }
  return stage(state, { ...before, kernelArguments: after });
}

function cleanup(state: StandInState, args: readonly string[]): StandInResult {
  if (args.length === 0) throw new Failed('cleanup: At least one cleanup option must be specified');
  if (!args.includes('-p') || state.staged === null) return { stdout: 'Deployments unchanged.\n' };
  return { stdout: 'Freed: 12.3 MB (pkgcache branches: 0)\n', state: { ...state, staged: null } };
}

function override(state: StandInState, [verb = '', ...args]: readonly string[]): StandInResult {
  const { names, installed, uninstalled } = readPackages(args);
  const before = first(state);
  const again = names.find((name) => before.removals.includes(name) === (verb === 'remove'));
  if (again !== undefined) {
    throw new Failed(
      verb === 'remove' ? `Override already exists for package '${again}'` : `No overrides for package '${again}'`,
    );
  }
  const removals =
    verb === 'remove' ? [...before.removals, ...names] : before.removals.filter((name) => !names.includes(name));
  const staged = { ...before, removals, packages: changePackages(before, installed, uninstalled) };
  // Without a package to install, it uses only packages that were downloaded before.
  if (installed.length > 0) resolvePackages(state, staged);
  return stage(state, staged);
}

function update(state: StandInState, args: readonly string[]): StandInResult {
  const { installed, uninstalled } = readPackages(args);
  if (installed.length + uninstalled.length === 0) return { stdout: 'No upgrade available.\n' };
  const before = first(state);
  const staged = { ...before, packages: changePackages(before, installed, uninstalled) };
  resolvePackages(state, staged);
  return stage(state, staged);
}

function changePackages(
  before: StandInDeployment,
  installed: readonly string[],
  uninstalled: readonly string[],
): string[] {
  const twice = installed.find((name) => before.packages.includes(name));
  if (twice !== undefined) throw new Failed(`Package/capability '${twice}' is already requested`);
  const absent = uninstalled.find((name) => !before.packages.includes(name));
  if (absent !== undefined) throw new Failed(`Package/capability '${absent}' is not currently requested`);
  return [...before.packages.filter((name) => !uninstalled.includes(name)), ...installed];
}

function readPackages(args: readonly string[]): { names: string[]; installed: string[]; uninstalled: string[] } {
  const read: { names: string[]; installed: string[]; uninstalled: string[] } = {
    names: [],
    installed: [],
    uninstalled: [],
  };
  const lists: Readonly<Record<string, string[]>> = { '--install': read.installed, '--uninstall': read.uninstalled };
  let list = read.names;
  for (const argument of args) {
    const next = lists[argument];
    if (next === undefined) list.push(argument);
    list = next ?? read.names;
  }
  return read;
}
