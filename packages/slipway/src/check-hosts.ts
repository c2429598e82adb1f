// Whether another operator looks after bare-metal hosts: asked once, before ours begins.
import { dataImages } from '@slipway/api';
import { createClient, type Stored, type Transport } from '@slipway/kube';
import { CommandError } from './cli/errors.ts';
import { type Deployment, deployments } from './deployments.ts';

/** Two operators that power the same hosts, or change the same drives, would undo each other's work. */
export async function checkHosts(transport: Transport, besideOperator: boolean): Promise<void> {
  for (const operator of await runningOperators(transport)) {
    const { namespace = '', name } = operator.metadata;
    const where = `a baremetal-operator runs in this cluster (Deployment ${namespace}/${name})`;
    if (!besideOperator) {
      throw new CommandError(
        'SLW_DATA_IMAGE_OPERATOR',
        `${where}. Two operators would undo each other's work: scale it to zero, or run with --data-images-beside-operator, which leaves the hosts to it`,
      );
    }
    if (await mayWriteDataImages(transport, operator)) {
      throw new CommandError(
        'SLW_DATA_IMAGE_OPERATOR',
        `${where} and handles DataImages itself: it may write dataimages/status. Leave --ironic-url out, or take that right from its ServiceAccount`,
      );
    }
  }
}

async function runningOperators(transport: Transport): Promise<Stored<Deployment>[]> {
  const found: Stored<Deployment>[] = [];
  for await (const each of createClient(transport).list(deployments)) {
    if (isHostsOperator(each.metadata.name) && each.spec?.replicas !== 0) found.push(each);
  }
  return found;
}

/** baremetal-operator-controller-manager, metal3-baremetal-operator; the cluster-baremetal-operator only installs it. */
const isHostsOperator = (name: string): boolean =>
  /(^|-)baremetal-operator($|-)/.test(name) && !name.startsWith('cluster-baremetal-operator');

/** As the API server itself would decide it, whichever roles it comes from. */
async function mayWriteDataImages(transport: Transport, { metadata, spec }: Stored<Deployment>): Promise<boolean> {
  const { namespace = '' } = metadata;
  const account = spec?.template?.spec?.serviceAccountName ?? 'default';
  const verdicts = await Promise.all(
    ['update', 'patch'].map(async (verb) => {
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: `system:serviceaccount:${namespace}:${account}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          resourceAttributes: { group: dataImages.group, resource: dataImages.plural, subresource: 'status', verb },
        },
      };
      const answer = await transport.json({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        what: `ask whether ServiceAccount ${namespace}/${account} may write DataImages`,
        retry: 'never',
        body,
      });
      return (answer as { status?: { allowed?: boolean } }).status?.allowed === true;
    }),
  );
  return verdicts.includes(true);
}
