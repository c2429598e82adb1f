// What MachineConfiguration `cluster` says of boot images: conditions, what is acted on, what fails since when, and how old the
// oldest one is. Never written where nothing is other than before.
import {
  bootImageFailuresAnnotation,
  bootImageSkewAnnotation,
  type MachineConfiguration,
  machineConfigurations,
} from '@slipway/api';
import {
  annotationSteps,
  type BootImageCondition,
  encodeFailures,
  type Failures,
  type Json,
  type MachineManager,
  type PatchStep,
  patchSteps,
  type Skew,
} from '@slipway/fleet/boot-images';
import { type Condition, setCondition, type Stored, type Writer } from '@slipway/kube';

export interface Report {
  readonly conditions: readonly BootImageCondition[];
  /** What is acted on. */
  readonly managers: readonly MachineManager[];
  readonly failures: Failures;
  readonly skew: Skew;
}

type Configuration = Stored<MachineConfiguration>;

/** Gives what was written last; null: all was as it should be. */
export async function writeReport(
  configuration: Configuration,
  { conditions, managers, failures, skew }: Report,
  writer: Writer,
  now: Date,
): Promise<Configuration | null> {
  const { conditions: all, ...others } = othersIn(configuration);
  return write(configuration, writer, {
    annotations: { [bootImageFailuresAnnotation]: encodeFailures(failures), [bootImageSkewAnnotation]: skew.problem },
    status: {
      ...others,
      conditions: conditions.reduce((list: readonly Condition[], each) => setCondition(list, each, now), all ?? []),
      bootImageSkewEnforcementStatus: skew.status,
      ...(managers.length > 0 && { managedBootImagesStatus: { machineManagers: managers } }),
    },
  });
}

/** Takes back all that was ever said here. */
export async function withdrawReport(configuration: Configuration, writer: Writer): Promise<boolean> {
  const { conditions = [], ...others } = othersIn(configuration);
  const written = await write(configuration, writer, {
    annotations: { [bootImageFailuresAnnotation]: null, [bootImageSkewAnnotation]: null },
    status: {
      ...others,
      ...(configuration.status?.conditions !== undefined && {
        conditions: conditions.filter(({ type }) => !ourTypes.has(type)),
      }),
    },
  });
  return written !== null;
}

const ourTypes: ReadonlySet<string> = new Set<BootImageCondition['type']>([
  'BootImageUpdateProgressing',
  'BootImageUpdateDegraded',
]);

/** What has other writers, and the conditions, of which some have. */
function othersIn({
  status = {},
}: Configuration): Omit<
  NonNullable<Configuration['status']>,
  'bootImageSkewEnforcementStatus' | 'managedBootImagesStatus'
> {
  const { bootImageSkewEnforcementStatus: _skew, managedBootImagesStatus: _managed, ...others } = status;
  return others;
}

interface Wanted {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly status: object;
}

/** Only what differs. Not applied: what somebody else has left in our fields would stay. */
async function write(
  configuration: Configuration,
  writer: Writer,
  { annotations, status }: Wanted,
): Promise<Configuration | null> {
  const { metadata } = configuration;
  const annotated = await patch(configuration, annotationSteps(metadata.annotations, annotations), writer);
  const steps = statusSteps(configuration.status, status);
  return (await patch(annotated ?? configuration, steps, writer, { subresource: 'status' })) ?? annotated;
}

function statusSteps(before: Configuration['status'], after: object): PatchStep[] {
  if (before === undefined && Object.keys(after).length === 0) return [];
  if (before === undefined) return [{ op: 'add', path: '/status', value: jsonOf(after) }];
  return patchSteps(jsonOf(before), jsonOf(after), '/status');
}

/** It came out of JSON, or goes there. */
const jsonOf = (value: object): Json => value as Json;

async function patch(
  configuration: Configuration,
  steps: readonly PatchStep[],
  writer: Writer,
  part: { readonly subresource?: 'status' } = {},
): Promise<Configuration | null> {
  return steps.length === 0 ? null : writer.jsonPatch(machineConfigurations, configuration, steps, part);
}
