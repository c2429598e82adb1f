// OS image streams for tests.
import { type MachineConfigPool, osStreamAnnotation, osStreamImagesAnnotation, ROLE_LABEL } from '@slipway/api';
import type { Stream, StreamLifecycle, Streams } from '../os-streams/available.ts';

/** An image whose digest repeats one digit. */
export const sampleOsImage = (name: string, digit: string): string =>
  `registry.example.com/${name}@sha256:${digit.repeat(64)}`;

export const rhel9: Stream = {
  name: 'rhel-9',
  osImage: sampleOsImage('os', '9'),
  osExtensionsImage: sampleOsImage('extensions', '9'),
};
export const rhel10: Stream = {
  name: 'rhel-10',
  osImage: sampleOsImage('os', 'a'),
  osExtensionsImage: sampleOsImage('extensions', 'a'),
};

export interface SampleStreams {
  readonly available?: readonly Stream[];
  readonly defaultStream?: string;
  readonly lifecycle?: Readonly<Record<string, StreamLifecycle>>;
}

/** RHEL 9 and 10; by default, 9 is the default stream. */
export const sampleStreams = ({
  available = [rhel9, rhel10],
  defaultStream = 'rhel-9',
  lifecycle = {},
}: SampleStreams = {}): Streams => ({ available, defaultStream, lifecycle: new Map(Object.entries(lifecycle)) });

export interface SamplePoolOnStream {
  /** The stream that the controllers recorded. Null: unknown. Omitted: none recorded. */
  readonly tracked?: string | null;
  readonly images?: Pick<Stream, 'osImage' | 'osExtensionsImage'>;
  readonly asked?: string;
  readonly reached?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Custom pools also select the MachineConfigs of worker. */
export function poolOnStream(name: string, more: SamplePoolOnStream = {}): MachineConfigPool {
  const { tracked, images, asked, reached, annotations = {} } = more;
  return {
    metadata: {
      name,
      annotations: {
        ...annotations,
        ...(tracked !== undefined && { [osStreamAnnotation]: tracked ?? '' }),
        ...(images !== undefined && { [osStreamImagesAnnotation]: JSON.stringify(images) }),
      },
    },
    spec: {
      machineConfigSelector:
        name === 'worker' || name === 'master'
          ? { matchLabels: { [ROLE_LABEL]: name } }
          : { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', name] }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
      ...(asked !== undefined && { osImageStream: { name: asked } }),
    },
    ...(reached !== undefined && { status: { osImageStream: { name: reached } } }),
  };
}
