// Which of the resources that make machines somebody means by a name.
import type { MachineResource } from '@slipway/fleet/boot-images';
import { CommandError } from '../cli/errors.ts';
import { resourceWords } from './resource-words.ts';

export interface Which {
  readonly name: string;
  /** Left out: any. */
  readonly namespace?: string | undefined;
  readonly api?: 'mapi' | 'capi' | undefined;
}

const words = { 'machine.openshift.io': 'mapi', 'cluster.x-k8s.io': 'capi' } as const;

export const isMeant = ({ name, namespace, api }: Which, resource: MachineResource): boolean =>
  resource.name === name &&
  (namespace === undefined || resource.namespace === namespace) &&
  (api === undefined || words[resource.api] === api);

/** A MachineSet that belongs to a MachineDeployment has another name than it, so one name means one thing or two APIs. */
export function theOne(which: Which, resources: readonly MachineResource[]): MachineResource {
  const [found, ...others] = resources.filter((resource) => isMeant(which, resource));
  if (found === undefined) throw noSuch(which);
  if (others.length === 0) return found;
  const all = [found, ...others].map((each) => `${resourceWords(each)} of ${each.api}`).join(', ');
  throw new CommandError(
    'SLW_CLI_NO_MACHINES',
    `${JSON.stringify(which.name)} means more than one: ${all}. Say which with --api mapi or --api capi, or -n NAMESPACE`,
  );
}

export const noSuch = ({ name, namespace, api }: Which): CommandError =>
  new CommandError(
    'SLW_CLI_NO_MACHINES',
    `no MachineSet or MachineDeployment is called ${JSON.stringify(name)}${namespace === undefined ? '' : ` in namespace ${namespace}`}${api === undefined ? '' : ` in ${api === 'mapi' ? 'the Machine API' : 'Cluster API'}`}: slipway bootimages lists them`,
  );
