// What holds the promises about OS image streams at the door. The controllers keep them as well: these say no at once, and
// to whoever asked.
import type { Identity } from '../identity.ts';
import { celList, type PolicyDefinition } from '../policy.ts';
import { machineConfigPools } from './machine-config-pool.ts';
import { osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation, SINGLETON_NAME } from './names.ts';
import { osImageStreams } from './os-image-stream.ts';
import { knownStreams, type KnownStream } from './stream-names.ts';

type Variable = { name: string; expression: string };

/** A CEL map with every spelling of every stream that we know. */
function bySpelling(valueOf: (stream: KnownStream) => string): string {
  const entries = knownStreams.flatMap((stream) =>
    [stream.name, ...stream.aliases].map((spelling) => `'${spelling}': ${valueOf(stream)}`),
  );
  return `{${entries.join(', ')}}`;
}

// A name that is not in the table stands for itself.
const canonical = (name: string): string => `variables.canonicalNames[?${name}].orValue(${name})`;
const isAvailable = (name: string): string => `variables.available.exists(s, ${canonical('s')} == ${canonical(name)})`;

const choice: Variable[] = [
  { name: 'canonicalNames', expression: bySpelling(({ name }) => `'${name}'`) },
  // Empty until the streams of the payload are known.
  { name: 'available', expression: 'params.?status.availableStreams.orValue([]).map(s, s.name)' },
  { name: 'to', expression: 'object.spec.osImageStream.name' },
];

/** Without the OSImageStream, so with the feature gate off, the field is ignored and nobody has to be told anything. */
const aboutTheStreamOfAPool = {
  resource: machineConfigPools,
  about: {
    name: 'another-stream',
    expression:
      "object.?spec.osImageStream.hasValue() && (request.operation == 'CREATE' || object.?spec.osImageStream != oldObject.?spec.osImageStream)",
  },
  param: { resource: osImageStreams, name: SINGLETON_NAME },
} as const;

const LIST_STREAMS = 'kubectl get osimagestream cluster -o yaml lists them';

/** A pool that asks for what is not there would wait for ever. */
export const poolStreamExistsPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'pool-os-stream-exists',
  description: 'A pool follows an OS image stream that the cluster has.',
  ...aboutTheStreamOfAPool,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  variables: choice,
  validations: [
    {
      expression: `size(variables.available) == 0 || ${isAvailable('variables.to')}`,
      // Told where the names of all streams are more than a message holds.
      message: `spec.osImageStream.name must be one of the OS image streams that this cluster has: ${LIST_STREAMS}`,
      messageExpression: `'pool ' + object.metadata.name + ' asks in spec.osImageStream for the stream ' + variables.to + ', which this cluster does not have: set one of ' + variables.available.join(', ') + ', or leave the field out and the pool stays on the stream it is on'`,
    },
  ],
});

/**
 * What the pool is on: as the controllers have noted it, since they note it before any machine moves; before they have,
 * what it asked for and could get; else what all its machines run.
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
  `make a new pool with spec.osImageStream.name ${stream} for new machines, and move the work there`;

const WHERE_POOL_IS =
  "'pool ' + object.metadata.name + ' is on the OS image stream ' + variables.from + ' and cannot go to ' + variables.to";
const stayOr = `'leave spec.osImageStream at ' + variables.from + ' or out, or ${formatRemediation("' + variables.to + '")}'`;

/** Machines are updated in place, and no OS can be updated to an older one. */
export const poolStreamForwardPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'pool-os-stream-forward',
  description: 'A pool goes to a newer OS image stream of its family, never back and never to another family.',
  ...aboutTheStreamOfAPool,
  operations: ['UPDATE'],
  exempt,
  variables: [...choice, ...origin, ...order],
  validations: [
    {
      expression: '!variables.isInFamily || variables.majors[variables.to] > variables.majors[variables.from]',
      message: `machines cannot go back to an older major version of their OS: ${formatRemediation('the older stream')}`,
      messageExpression: `${WHERE_POOL_IS} + ': machines cannot go back to an older major version of their OS. Either ' + ${stayOr}`,
    },
    {
      expression: '!variables.isKnownStep || variables.isInFamily',
      message: `machines cannot change to the OS of another family: ${formatRemediation('the other stream')}`,
      messageExpression: `${WHERE_POOL_IS} + ': machines cannot change from the family ' + variables.families[variables.from] + ' to ' + variables.families[variables.to] + '. Either ' + ${stayOr}`,
    },
  ],
});

const recordAnnotations = [osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation];

/** Who could rewrite what a pool is on could lead its machines back, or to images that nobody released. */
export const poolStreamRecordPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'pool-os-stream-record',
  description: `The annotations of a pool that say which OS image stream it is on are written by the controllers alone: ${recordAnnotations.join(', ')}.`,
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
      message: `the annotations ${recordAnnotations.join(', ')} of a pool are written by the controllers alone: leave them as they are; what you want the pool to follow is spec.osImageStream`,
      messageExpression: `'of pool ' + object.metadata.name + ' the annotation ' + variables.changed.join(', ') + ' is written by the controllers alone: leave it as it is' + (request.operation == 'CREATE' ? ', so out of a new pool' : '. A file for kubectl replace needs it as it stands; a file for kubectl apply goes without, and if it had it once, kubectl apply set-last-applied -f FILE makes that forgotten') + '. What you want the pool to follow is spec.osImageStream'`,
    },
  ],
});

/** Pools name its streams, and its spec holds a choice that nobody could guess again. */
export const osImageStreamPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'os-image-stream-guards',
  description: 'The OSImageStream of the cluster cannot be deleted.',
  resource: osImageStreams,
  operations: ['DELETE'],
  exempt,
  validations: [
    {
      expression: 'false',
      message:
        'OSImageStream cluster cannot be deleted: pools take their OS from its streams, and its spec holds the default that was chosen for new pools. For another default change spec.defaultStream. To do without streams turn the feature gate OSStreams off: then nobody reads it, and somebody in the group slipway:break-glass can delete it',
    },
  ],
});
