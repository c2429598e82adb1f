import { daemonUser, DEFAULT_NAMESPACE, exemptIdentities } from './identity.ts';
import type { Kind } from './kind.ts';
import { machineConfigContentPolicy } from './machineconfiguration/content-policies.ts';
import {
  builtInConfigPolicy,
  customPoolPolicy,
  poolConfigPolicy,
  renderedConfigPolicy,
} from './machineconfiguration/machine-config-policies.ts';
import { machineConfigNodePolicy, nodePolicy } from './machineconfiguration/node-policies.ts';
import {
  osImageStreamPolicy,
  poolStreamExistsPolicy,
  poolStreamForwardPolicy,
  poolStreamRecordPolicy,
} from './machineconfiguration/os-stream-policies.ts';
import { dataImageHostPolicy, dataImageMemoryPolicy, dataImagePolicy } from './metal3/data-image-policies.ts';
import { bootImagePlatformPolicy, machineConfigurationPolicy } from './operator/machine-configuration-policies.ts';
import type { PolicyDefinition } from './policy.ts';
import type { Problem } from './problem.ts';

/** Every admission policy that we install, for controllers that run in `namespace`. */
export function policies(namespace: string = DEFAULT_NAMESPACE): PolicyDefinition[] {
  const exempt = exemptIdentities(namespace);
  return [
    machineConfigurationPolicy(exempt),
    customPoolPolicy(exempt),
    poolConfigPolicy(exempt),
    renderedConfigPolicy(exempt),
    builtInConfigPolicy(exempt),
    machineConfigContentPolicy(exempt),
    nodePolicy(exempt, daemonUser(namespace)),
    machineConfigNodePolicy(exempt, daemonUser(namespace)),
    poolStreamExistsPolicy(exempt),
    poolStreamForwardPolicy(exempt),
    poolStreamRecordPolicy(exempt),
    osImageStreamPolicy(exempt),
    bootImagePlatformPolicy(exempt),
    dataImagePolicy(exempt),
    dataImageHostPolicy(exempt),
    dataImageMemoryPolicy(exempt),
  ];
}

const ourPolicies = policies();

/** Why our policies refuse a new object of a user who is not exempt, as far as the object alone decides. */
export function findRefusals<T>({ group, plural }: Kind<T>, object: T): Problem[] {
  return ourPolicies
    .filter(({ resource }) => resource.group === group && resource.plural === plural)
    .flatMap(({ validations }) => {
      const refusals = validations.flatMap((validation) => {
        const message = validation.refuses?.(object);
        return message === undefined ? [] : [{ path: validation.field ?? '', message }];
      });
      // The API server names the first one.
      return refusals.slice(0, 1);
    });
}
