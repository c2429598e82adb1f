import type { MachineResource } from '@slipway/fleet/boot-images';

/** `MachineSet openshift-machine-api/a`, in a sentence. */
export const resourceWords = ({ kind, namespace, name }: MachineResource): string => `${kind} ${namespace}/${name}`;
