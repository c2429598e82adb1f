// Keeps the boot images and user data of Machine API MachineSets current. `decideResource` decides; this reads its
// input and executes the decision.
import { bootImageCanaryLabel, type MachineSet, machineSets } from '@slipway/api';
import {
  annotationSteps,
  type Change,
  type JsonObject,
  readMachineContext,
  patchSteps,
  type Platform,
  PROVIDER_SPEC_POINTER,
  readMachineSet,
  resourceFacts,
  readUserDataSecret,
  withUserDataSecret,
} from '@slipway/fleet/boot-images';
import type { ControllerDef } from '@slipway/kube';
import { type CanaryQueue, findNextInLine, removeCanaries, removeCanary, tryCanary } from './canary.ts';
import {
  executeUpdate,
  type MachineOwnerContext,
  machinesController,
  type BootImageDeps,
  type MachineOwnerUpdate,
} from './reconcile.ts';
import { type BootImagesOptions, readCluster, machineSetSource } from './sources.ts';

export function machineSetsController(options: BootImagesOptions, shared: BootImageDeps): ControllerDef {
  const queue: CanaryQueue = { board: shared.board, isCreating: false, last: '' };
  return machinesController(
    {
      name: 'boot-images-machine-sets',
      api: 'machine.openshift.io',
      kind: 'MachineSet',
      source: machineSetSource(options.machineApiNamespace),
      reads: [],
      owns: [],
      userDataOf: readUserDataSecret,
      ownerOf: findCanaryOwner,
      whenOff: removeCanaries(options.machineApiNamespace),
      ...(options.canary === true && { nextInLine: () => findNextInLine(queue) }),
      look: (found) => executeUpdate(buildUpdate(found, queue, options), found.parts, found.context),
    },
    shared,
  );
}

/** A canary is reconciled through the set it belongs to. */
function findCanaryOwner({ metadata }: MachineSet): string | undefined {
  if (metadata.labels?.[bootImageCanaryLabel] === undefined) return undefined;
  return metadata.ownerReferences?.[0]?.name ?? metadata.name;
}

function buildUpdate(
  { object: set, about, context }: MachineOwnerContext<MachineSet>,
  queue: CanaryQueue,
  options: BootImagesOptions,
): MachineOwnerUpdate {
  const cluster = readCluster(context.read, options.namespace);
  const { machine, userData } = readMachineSet(set, readMachineContext(cluster));
  const next = (change: Change): JsonObject => (machine.ok ? nextSpec(machine.platform, machine.spec, change) : {});
  return {
    resource: machineSets,
    object: set,
    facts: { ...resourceFacts(about, set), machine },
    userData,
    consequence: '',
    readError: null,
    // Only a new image needs a canary. New user data points at the same server as before.
    mayChange: async (change) =>
      options.canary === true && change.spec !== null && machine.ok
        ? tryCanary({ set, providerSpec: next(change), platform: machine.platform }, queue, context)
        : { type: 'go' },
    async change(change, annotations) {
      const steps = machine.ok ? patchSteps(machine.spec, next(change), PROVIDER_SPEC_POINTER) : [];
      await context.write.jsonPatch(machineSets, set, [
        ...steps,
        ...annotationSteps(set.metadata.annotations, annotations),
      ]);
    },
    tidy: () => removeCanary(set, context),
  };
}

function nextSpec(platform: Platform, spec: JsonObject, change: Change): JsonObject {
  const withImage = change.spec ?? spec;
  return change.userData === null ? withImage : withUserDataSecret(platform, withImage, change.userData);
}
