import { conditions } from '../condition.ts';
import { atomicList, int32, int64, object, optional, text, timestamp } from '../schema.ts';

const condition = object(undefined, {
  type: text('What the condition is about.', { minLength: 1, maxLength: 256 }),
  status: text('Whether the condition holds: True, False or Unknown.'),
  severity: optional(text('How bad it is when the condition does not hold.', { maxLength: 32 })),
  reason: optional(text('Why, in one word that programs may rely on.', { minLength: 1, maxLength: 256 })),
  message: optional(text('Why, in a sentence for people.', { minLength: 1, maxLength: 10_240 })),
  lastTransitionTime: timestamp('When the status last changed.'),
});

/** What the statuses of MachineSets and MachineDeployments of Cluster API have in common. */
export const machineStatusFields = {
  observedGeneration: optional(int64('The generation of this object that the status is for.')),
  selector: optional(text('The selector as a string, for autoscalers.', { minLength: 1, maxLength: 4096 })),
  replicas: optional(int32('Machines that exist.')),
  readyReplicas: optional(int32('Machines whose node is ready.')),
  availableReplicas: optional(int32('Machines that have been ready for minReadySeconds.')),
  conditions: optional(atomicList('Findings, in the form of v1beta1.', condition)),
  v1beta2: optional(
    object('The parts of the status that v1beta2 has differently.', {
      conditions: optional(conditions('Findings.', { maxItems: 32 })),
      readyReplicas: optional(int32('Machines that are ready.')),
      availableReplicas: optional(int32('Machines that are available.')),
      upToDateReplicas: optional(int32('Machines made from the present template.')),
    }),
  ),
};
