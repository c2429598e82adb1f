// Whether an update can be carried out on this machine, found out before anything is touched, and before a drain.
import type { UpdatePlan } from '@slipway/fleet';
import type { FileSystem } from '../host/file-system.ts';
import type { Accounts } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import type { StoredConfig } from '../stored-config.ts';
import { problemOf } from './problem.ts';
import { surveyUpdate } from './survey.ts';
import { wantedBy } from './wanted.ts';

/** None: as far as can be seen, it can. */
export async function preflight(
  files: FileSystem,
  accounts: Accounts,
  plan: Pick<UpdatePlan, 'changes' | 'irreconcilable'>,
  to: StoredConfig,
): Promise<Problem[]> {
  const { irreconcilable, changes } = plan;
  if (irreconcilable.length > 0) return irreconcilable.map(({ code, message }) => ({ code, message }));
  try {
    const { problems } = await surveyUpdate({ files, accounts }, changes, {
      config: to.name,
      wanted: await wantedBy(to),
    });
    return [...problems];
  } catch (error) {
    return [problemOf(error, `MachineConfig ${to.name}`)];
  }
}
