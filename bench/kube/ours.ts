import { createInformer, createTransport, dropManagedFields, loadKubeconfig } from '@slipway/kube';
import { measure } from './contender.ts';
import { nodes } from './nodes.ts';

const KUBECONFIG = process.argv[2] ?? '';

await measure(async (onChange) => {
  const transport = createTransport(await loadKubeconfig([KUBECONFIG]));
  const informer = createInformer(transport, {
    resource: nodes,
    expect: 'many',
    // Drops what no controller reads.
    project: (node) => {
      const kept = dropManagedFields(node);
      delete kept.status?.images;
      return kept;
    },
    onProblem: (error) => console.error('ours:', error),
  });
  informer.start(new AbortController().signal);
  await informer.synced;
  informer.onChange(onChange);
  return informer.store.size;
});
