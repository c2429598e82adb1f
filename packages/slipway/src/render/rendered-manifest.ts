import {
  generatedByAnnotation,
  machineConfigKind,
  machineConfigurationGroup,
  osStreamAnnotation,
  poolLabel,
} from '@slipway/api';
import type { MachineConfig } from '@slipway/api';
import type { Rendering } from './render-offline.ts';

/** The object that the render controller would make, but for what only a cluster knows. */
export function renderedManifest({ pool, rendered }: Rendering, controllerVersion: string): MachineConfig {
  return {
    apiVersion: `${machineConfigurationGroup}/v1`,
    kind: machineConfigKind.kind,
    metadata: {
      name: rendered.name,
      labels: { [poolLabel]: pool.metadata.name },
      annotations: {
        [generatedByAnnotation]: controllerVersion,
        ...(rendered.osStream !== null && { [osStreamAnnotation]: rendered.osStream }),
      },
    },
    spec: rendered.spec,
  };
}
