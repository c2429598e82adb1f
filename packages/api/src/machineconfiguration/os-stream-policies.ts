// Admission checks for OS image streams. The controllers enforce the same rules; a policy refuses immediately, so the
// user who made the request sees why.
import type { Identity } from '../identity.ts';
import { celList, KEEPS_OWNERS, type PolicyDefinition } from '../policy.ts';
import { type MachineConfigPool, machineConfigPools } from './machine-config-pool.ts';
import { osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation, SINGLETON_NAME } from './names.ts';
import { osImageStreams } from './os-image-stream.ts';
import { knownStreams, type KnownStream } from './stream-names.ts';

type Variable = { name: string; expression: string };

/** A CEL map keyed by every name and alias of every known stream. */
function bySpelling(valueOf: (stream: KnownStream) => string): string {
  const entries = knownStreams.flatMap((stream) =>
    [stream.name, ...stream.aliases].map((spelling) => `'${spelling}': ${valueOf(stream)}`),
  );
  return `{${entries.join(', ')}}`;
}

// An unknown name is its own canonical name.
const canonical = (name: string): string => `variables.canonicalNames[?${name}].orValue(${name})`;
const isAvailable = (name: string): string => `variables.available.exists(s, ${canonical('s')} == ${canonical(name)})`;

const choice: Variable[] = [
  { name: 'canonicalNames', expression: bySpelling(({ name }) => `'${name}'`) },
  // Empty until the streams of the release payload are known.
  { name: 'available', expression: 'params.?status.availableStreams.orValue([]).map(s, s.name)' },
  { name: 'to', expression: 'object.spec.osImageStream.name' },
];

/** Without the OSImageStream (feature gate off) the field is ignored, so nothing is refused. */
const aboutTheStreamOfAPool = {
  resource: machineConfigPools,
  about: {
    name: 'another-stream',
    expression:
      "object.?spec.osImageStream.hasValue() && (request.operation == 'CREATE' || object.?spec.osImageStream != oldObject.?spec.osImageStream)",
  },
  param: { resource: osImageStreams, name: SINGLETON_NAME },
} as const;

const LIST_STREAMS = 'List them with: kubectl get osimagestream cluster -o yaml';

/** A pool that requests a missing stream would wait indefinitely. */
export const poolStreamExistsPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'pool-os-stream-exists',
  description: 'A pool can only use an OS image stream that the cluster has.',
  ...aboutTheStreamOfAPool,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  variables: choice,
  validations: [
    {
      expression: `size(variables.available) == 0 || ${isAvailable('variables.to')}`,
      // Used when the names of all streams exceed the length limit of a message.
      message: `spec.osImageStream.name must be an OS image stream of this cluster. ${LIST_STREAMS}`,
      messageExpression: `'pool ' + object.metadata.name + ' requests the OS image stream ' + variables.to + ' in spec.osImageStream, which this cluster does not have. Set one of ' + variables.available.join(', ') + ', or omit the field to keep the current stream'`,
    },
  ],
});

/**
 * The current stream of the pool: the one that the controllers recorded, which they do before any machine moves; else
 * the requested one, if available; else the one that all its machines run.
 */
const origin: Variable[] = [
  {
    name: 'tracked',
    expression: `oldObject.metadata.?annotations[?'${osStreamAnnotation}'].orValue('')`,
  },
  { name: 'asked', expression: "oldObject.?spec.osImageStream.name.orValue('')" },
  { name: 'runs', expression: "oldObject.?status.osImageStream.name.orValue('')" },
  {
    name: 'from',
    expression: `variables.tracked != '' ? variables.tracked : (${isAvailable('variables.asked')} ? variables.asked : variables.runs)`,
  },
];

const order: Variable[] = [
  { name: 'families', expression: bySpelling(({ family }) => `'${family}'`) },
  { name: 'majors', expression: bySpelling(({ major }) => String(major ?? 0)) },
  {
    name: 'isKnownStep',
    expression: `variables.from in variables.families && variables.to in variables.families && ${canonical('variables.from')} != ${canonical('variables.to')}`,
  },
  {
    name: 'isInFamily',
    expression: 'variables.isKnownStep && variables.families[variables.from] == variables.families[variables.to]',
  },
];

const formatRemediation = (stream: string): string =>
  `create a new pool with spec.osImageStream.name ${stream} for new machines and move the workloads there`;

const WHERE_POOL_IS =
  "'pool ' + object.metadata.name + ' is on the OS image stream ' + variables.from + ' and cannot move to ' + variables.to";
const stayOr = `'keep spec.osImageStream at ' + variables.from + ' or omit it, or ${formatRemediation("' + variables.to + '")}'`;

/** Machines are updated in place, and an OS cannot be updated to an older major version. */
export const poolStreamForwardPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'pool-os-stream-forward',
  description: 'A pool can only move to a newer OS image stream of the same family.',
  ...aboutTheStreamOfAPool,
  operations: ['UPDATE'],
  exempt,
  variables: [...choice, ...origin, ...order],
  validations: [
    {
      expression: '!variables.isInFamily || variables.majors[variables.to] > variables.majors[variables.from]',
      message: `machines cannot be downgraded to an older major version of their OS: ${formatRemediation('the older stream')}`,
      messageExpression: `${WHERE_POOL_IS} + ': machines cannot be downgraded to an older major version of their OS. Either ' + ${stayOr}`,
    },
    {
      expression: '!variables.isKnownStep || variables.isInFamily',
      message: `machines cannot move to an OS of another family: ${formatRemediation('the other stream')}`,
      messageExpression: `${WHERE_POOL_IS} + ': machines cannot move from the family ' + variables.families[variables.from] + ' to ' + variables.families[variables.to] + '. Either ' + ${stayOr}`,
    },
  ],
});

const recordAnnotations = [osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation];

/** A user who can rewrite the recorded stream could downgrade the machines, or point them at unreleased images. */
export const poolStreamRecordPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfigPool> => ({
  name: 'pool-os-stream-record',
  description: `Only the controllers write the annotations that record the OS image stream of a pool: ${recordAnnotations.join(', ')}.`,
  resource: machineConfigPools,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  exempt,
  variables: [
    {
      name: 'before',
      expression: "request.operation == 'CREATE' ? {} : oldObject.metadata.?annotations.orValue({})",
    },
    { name: 'after', expression: 'object.metadata.?annotations.orValue({})' },
    {
      name: 'changed',
      expression: `${celList(recordAnnotations)}.filter(name, variables.before[?name] != variables.after[?name])`,
    },
  ],
  validations: [
    {
      expression: 'size(variables.changed) == 0',
      message: `only the controllers write the annotations ${recordAnnotations.join(', ')} of a pool. Do not change them; to change the stream, set spec.osImageStream`,
      messageExpression: `'only the controllers write the annotation ' + variables.changed.join(', ') + ' of pool ' + object.metadata.name + '. ' + (request.operation == 'CREATE' ? 'Omit it from a new pool' : 'Do not change it: a file for kubectl replace must contain it unchanged, and a file for kubectl apply must not contain it. If an applied file contained it, remove it there and run kubectl apply set-last-applied -f FILE') + '. To change the stream, set spec.osImageStream'`,
      field: 'metadata.annotations',
      refuses: ({ metadata: { name, annotations = {} } }) => {
        const written = recordAnnotations.filter((annotation) => Object.hasOwn(annotations, annotation));
        return written.length === 0
          ? undefined
          : `only the controllers write the annotation ${written.join(', ')} of pool ${name}. Omit it from a new pool. To change the stream, set spec.osImageStream`;
      },
    },
  ],
});

/** Pools refer to its streams, and its spec stores a choice that could not be reconstructed. */
export const osImageStreamPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'os-image-stream-guards',
  description: 'The OSImageStream of the cluster cannot be deleted.',
  resource: osImageStreams,
  operations: ['UPDATE', 'DELETE'],
  covers: 'everything',
  exempt,
  validations: [
    {
      expression: `request.operation == 'DELETE' || (${KEEPS_OWNERS})`,
      message:
        'only the controllers change the owners and finalizers of OSImageStream cluster: garbage collection would delete it with an owner',
    },
    {
      expression: "request.operation != 'DELETE'",
      message:
        'OSImageStream cluster cannot be deleted: pools take their OS from its streams, and its spec stores the default for new pools. To change the default, set spec.defaultStream. To stop using streams, turn off the feature gate OSStreams; a user in the group slipway:break-glass can then delete the object',
    },
  ],
});
