import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { measure } from './contender.ts';

const KUBECONFIG = process.argv[2] ?? '';

await measure(async (onChange) => {
  const config = new KubeConfig();
  config.loadFromFile(KUBECONFIG);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, '/api/v1/nodes', () => api.listNode());
  informer.on('error', (error: unknown) => console.error('theirs:', error));
  await informer.start();
  informer.on('update', onChange);
  return informer.list().length;
});
