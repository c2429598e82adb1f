// Labels by which a new set belongs to a pool: what the pool's selector asks for, and no more.
import type { MachineConfigPool } from '@slipway/api';
import { type LabelSelector, matchesSelector } from '@slipway/fleet';
import { CommandError } from '../cli/errors.ts';

export function labelsMatching({ metadata: { name }, spec }: MachineConfigPool): Record<string, string> {
  const selector = spec.machineConfigSelector ?? {};
  const labels = { ...fromExpressions(selector, name), ...selector.matchLabels };
  // An empty selector takes no set: for images of every machine in the cluster somebody has to say so.
  if (Object.keys(labels).length > 0 && matchesSelector(selector, labels)) return labels;
  throw new CommandError(
    'SLW_CLI_PIN_POOL',
    `MachineConfigPool ${name}: spec.machineConfigSelector: expected one that labels of a PinnedImageSet can match, such as matchLabels of a role, found ${JSON.stringify(selector).slice(0, 300)}. ` +
      `Make the set yourself (slipway pin … --dry-run -o json has the images), and name it in spec.pinnedImageSets of the pool`,
  );
}

/** Of several values that do, the pool's own role: worker's would bring the images to every worker. */
function fromExpressions({ matchExpressions = [] }: LabelSelector, pool: string): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operator === 'In') wanted[key] = values.includes(pool) ? pool : (values[0] ?? '');
    else if (operator === 'Exists') wanted[key] ??= '';
  }
  return wanted;
}
