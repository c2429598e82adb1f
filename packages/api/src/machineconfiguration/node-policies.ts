// What the daemon and the kubelet of a machine may write. An attacker who takes over a machine has both identities, and
// must not be able to reach other machines with them.
import { nodes } from '../core/kinds.ts';
import type { Identity } from '../identity.ts';
import { celList, inGroup, KEEPS_OWNERS, type PolicyDefinition } from '../policy.ts';
import { machineConfigNodes } from './machine-config-node.ts';
import { daemonAnnotations, ourPrefixes } from './names.ts';

const NODE_USER = 'system:node:';
const isDaemon = (daemon: string): string => `request.userInfo.username == '${daemon}'`;
const isKubelet = `${inGroup('system:nodes')} || request.userInfo.username.startsWith('${NODE_USER}')`;

/**
 * The node that sends the request: in the user name of a kubelet, in the pod token of a daemon. '' for all other users,
 * and for a token that is not bound to a pod on a node.
 */
const buildCallerVariable = (daemon: string): { name: string; expression: string } => ({
  name: 'caller',
  expression: `${isDaemon(daemon)} ? request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('') : (request.userInfo.username.startsWith('${NODE_USER}') ? request.userInfo.username.substring(${NODE_USER.length}) : '')`,
});

const shortNames = daemonAnnotations.map((name) => name.slice(name.indexOf('/') + 1)).join(', ');

const isOurs = `(${ourPrefixes.map((prefix) => `name.startsWith('${prefix}')`).join(' || ')})`;

/** The names of the annotations or labels that a request adds, changes or removes. */
function buildChangeVariables(field: 'annotations' | 'labels'): { name: string; expression: string }[] {
  const [before, after] = [`${field}Before`, `${field}After`];
  const all = `metadata.?${field}.orValue({})`;
  return [
    { name: before, expression: `request.operation == 'CREATE' ? {} : oldObject.${all}` },
    { name: after, expression: `object.${all}` },
    {
      name: `changed${field === 'labels' ? 'Labels' : 'Annotations'}`,
      expression: `variables.${after}.filter(name, variables.${before}[?name] != variables.${after}[?name]) + variables.${before}.filter(name, !(name in variables.${after}))`,
    },
  ];
}

/** Labels and desiredConfig decide which config a machine gets: a worker must not assign itself the masters' config. */
export const nodePolicy = (exempt: readonly Identity[], daemon: string): PolicyDefinition => ({
  name: 'node-guards',
  description:
    'A daemon may only change its state annotations, and only on its own Node. A kubelet may not change any other Slipway annotation.',
  resource: nodes,
  operations: ['CREATE', 'UPDATE'],
  covers: 'everything',
  // A request to the status subresource of a Node can change its annotations and labels too.
  subresource: 'status',
  exempt,
  about: { name: 'from-a-machine', expression: `${isDaemon(daemon)} || ${isKubelet}` },
  variables: [
    buildCallerVariable(daemon),
    { name: 'isDaemon', expression: isDaemon(daemon) },
    ...buildChangeVariables('annotations'),
    ...buildChangeVariables('labels'),
    {
      name: 'refused',
      expression: [
        `variables.changedAnnotations.filter(name, !(name in ${celList(daemonAnnotations)} && variables.caller == object.metadata.name) && (variables.isDaemon || ${isOurs}))`,
        `variables.changedLabels.filter(name, ${isOurs})`,
      ].join(' + '),
    },
  ],
  validations: [
    {
      expression: '!variables.isDaemon || variables.caller == object.metadata.name',
      message: 'a daemon may only write the Node that it runs on: use a token that is bound to a pod on that node',
      messageExpression:
        "'a daemon may only write the Node that it runs on: found ' + (variables.caller == '' ? 'a token without a node' : 'a token of node ' + variables.caller) + ' in a request for Node ' + object.metadata.name",
    },
    {
      expression: 'size(variables.refused) == 0',
      message: `of the Slipway annotations and labels, a machine may only write these annotations on its own Node: ${shortNames}. The others are reserved for the controllers`,
      messageExpression: `'a machine may not write ' + variables.refused.join(', ') + ' on Node ' + object.metadata.name + '. On its own Node it may write the annotations ${shortNames}; the others are reserved for the controllers'`,
    },
    {
      expression: `!variables.isDaemon || (request.operation == 'UPDATE' && object.?spec == oldObject.?spec && object.?status == oldObject.?status && object.metadata.?labels == oldObject.metadata.?labels && ${KEEPS_OWNERS})`,
      message: `a daemon may only change the annotations ${shortNames} of its Node. Labels, taints and all other fields are reserved for controllers, the kubelet and users`,
    },
  ],
});

const ONLY_THE_CONTROLLER =
  'only the controller creates, changes and deletes MachineConfigNodes: each is created, updated and deleted with its Node';

/** The progress record of a node: the controller creates it, and the node reports in its status. */
export const machineConfigNodePolicy = (exempt: readonly Identity[], daemon: string): PolicyDefinition => ({
  name: 'mcn-guards',
  description:
    'Only the controller creates, changes and deletes a MachineConfigNode, and only the daemon of the node writes its status.',
  resource: machineConfigNodes,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  covers: 'everything',
  subresource: 'status',
  exempt,
  variables: [
    buildCallerVariable(daemon),
    { name: 'isStatus', expression: "request.?subResource.orValue('') == 'status'" },
    { name: 'isMachine', expression: `${isDaemon(daemon)} || ${isKubelet}` },
  ],
  validations: [
    {
      expression: '!variables.isStatus || variables.caller == object.metadata.name',
      message: 'only the daemon of the node may write the status of its MachineConfigNode',
      messageExpression:
        "'only the daemon of the node may write the status of MachineConfigNode ' + object.metadata.name + ': found ' + request.userInfo.username + (variables.caller == '' ? '' : ' on node ' + variables.caller)",
    },
    {
      // Users may set labels and annotations.
      expression: `variables.isStatus || (!variables.isMachine && request.operation == 'UPDATE' && object.?spec == oldObject.?spec && ${KEEPS_OWNERS})`,
      message: ONLY_THE_CONTROLLER,
      refuses: () => ONLY_THE_CONTROLLER,
    },
  ],
});
