// The part of the stand-in that replaces bootc.
import { type StandInResult, Failed } from './stand-in-result.ts';
import { computeChecksum, DEFAULT_VERSION, type StandInDeployment, type StandInState } from './stand-in-state.ts';

const MODIFIED =
  'Switching: Deployment contains local rpm-ostree modifications; cannot upgrade via bootc. You can run `rpm-ostree reset` to undo the modifications.';

export function runBootc(state: StandInState, [verb = '', ...args]: readonly string[]): StandInResult {
  if (verb === '--version') return { stdout: 'bootc stand-in, this is not bootc\n' };
  if (verb === 'status') return status(state);
  if (verb === 'switch') return switchImage(state, args);
  if (verb === 'loader-entries') return setOptions(state, args);
  throw new Failed(`unrecognized subcommand '${verb}'`, 2);
}

/** Sorted keys, on one line. */
function status(state: StandInState): StandInResult {
  const { booted, staged } = state;
  const spec = parseReference(staged ?? booted);
  const text = {
    apiVersion: 'org.containers.bootc/v1',
    kind: 'BootcHost',
    metadata: { name: 'stand-in: this is not bootc' },
    spec: { bootOrder: 'default', image: spec },
    status: {
      booted: describe(state, booted),
      readOnly: false,
      rollback: null,
      rollbackQueued: false,
      staged: staged && describe(state, staged),
      type: 'bootcHost',
      usrOverlay: null,
    },
  };
  return { stdout: JSON.stringify(text) };
}

function describe(state: StandInState, deployment: StandInDeployment): object {
  const isModified = deployment.packages.length + deployment.removals.length > 0;
  const image = parseReference(deployment);
  const digest = /sha256:[0-9a-f]+$/.exec(image.image)?.[0] ?? '';
  return {
    cachedUpdate: null,
    composefs: state.isComposefs ? { verity: 'stand-in' } : null,
    downloadOnly: false,
    image: isModified
      ? null
      : { architecture: 'amd64', image, imageDigest: digest, timestamp: null, version: deployment.version },
    incompatible: isModified,
    ostree: state.isComposefs ? null : { checksum: computeChecksum(deployment), deploySerial: 0, stateroot: 'rhcos' },
    pinned: false,
    softRebootCapable: false,
    store: state.isComposefs ? null : 'ostreeContainer',
  };
}

function parseReference({ reference }: StandInDeployment): { image: string; transport: string } {
  const stored = 'ostree-unverified-image:containers-storage:';
  return reference.startsWith(stored)
    ? { image: reference.slice(stored.length), transport: 'containers-storage' }
    : { image: reference.slice('ostree-unverified-registry:'.length), transport: 'registry' };
}

function switchImage(state: StandInState, args: readonly string[]): StandInResult {
  const transport = args[0] === '--transport' ? (args[1] ?? '') : 'registry';
  const image = args.at(-1) ?? '';
  const first = state.staged ?? state.booted;
  const spec = parseReference(first);
  if (spec.image === image && spec.transport === transport) return { stdout: 'Image specification is unchanged.\n' };
  if (first.packages.length + first.removals.length > 0) throw new Failed(MODIFIED);
  const scheme = transport === 'registry' ? 'ostree-unverified-registry:' : `ostree-unverified-image:${transport}:`;
  const staged = { ...first, reference: `${scheme}${image}`, version: pullImage(state, image, transport) };
  return {
    stdout: `Queued for next boot: ${image}\n  Version: ${staged.version}\n`,
    state: { ...state, staged },
  };
}

/** Returns the version of its OS. */
function pullImage(state: StandInState, image: string, transport: string): string {
  const found = state.registry[image];
  if (found === undefined || (transport === 'containers-storage' && !state.pulled.includes(image))) {
    throw new Failed(`Switching (ostree): Creating importer: reading manifest ${image}: manifest unknown`);
  }
  if (!found.bootable) throw new Failed('Switching: Target image does not have ostree.bootable label');
  return found.version ?? DEFAULT_VERSION;
}

function setOptions(state: StandInState, args: readonly string[]): StandInResult {
  if (args[0] !== 'set-options-for-source') throw new Failed(`unrecognized subcommand '${args[0]}'`, 2);
  const source = args[args.indexOf('--source') + 1] ?? '';
  const options = args.includes('--options') ? (args[args.indexOf('--options') + 1] ?? '') : '';
  const first = state.staged ?? state.booted;
  if ((first.sources[source] ?? '') === options) return {};
  const { [source]: _dropped, ...others } = first.sources;
  const sources = options === '' ? others : { ...others, [source]: options };
  return { state: { ...state, staged: { ...first, sources } } };
}
