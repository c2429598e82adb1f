import { gcpMachineTemplateKind } from './cluster-api/gcp-machine-template.ts';
import { machineDeploymentKind } from './cluster-api/machine-deployment.ts';
import { clusterApiMachineSetKind } from './cluster-api/machine-set.ts';
import { clusterOperatorKind } from './config/cluster-operator.ts';
import { clusterVersionKind } from './config/cluster-version.ts';
import { featureGateKind } from './config/feature-gate.ts';
import { infrastructureKind } from './config/infrastructure.ts';
import type { Kind } from './kind.ts';
import { machineSetKind } from './machine/machine-set.ts';
import { bootImageHistoryKind } from './machineconfiguration/boot-image-history.ts';
import { machineConfigNodeKind } from './machineconfiguration/machine-config-node.ts';
import { machineConfigPoolKind } from './machineconfiguration/machine-config-pool.ts';
import { machineConfigKind } from './machineconfiguration/machine-config.ts';
import { osImageStreamKind } from './machineconfiguration/os-image-stream.ts';
import { pinnedImageSetKind } from './machineconfiguration/pinned-image-set.ts';
import { bareMetalHostKind } from './metal3/bare-metal-host.ts';
import { dataImageKind } from './metal3/data-image.ts';
import { machineConfigurationKind } from './operator/machine-configuration.ts';

/** Every kind that we own or read. Its `install` field states who ships the CRD. */
export const kinds: readonly Kind[] = [
  machineConfigKind,
  machineConfigPoolKind,
  machineConfigNodeKind,
  machineConfigurationKind,
  pinnedImageSetKind,
  osImageStreamKind,
  bootImageHistoryKind,
  dataImageKind,
  bareMetalHostKind,
  featureGateKind,
  infrastructureKind,
  clusterVersionKind,
  clusterOperatorKind,
  machineSetKind,
  clusterApiMachineSetKind,
  machineDeploymentKind,
  gcpMachineTemplateKind,
];
