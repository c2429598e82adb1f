// A controller that is killed for good at one of its writes: `killed-controller.ts KUBECONFIG NUMBER before|after`.
// The kill is the kernel's: nothing of the process runs any more, no handler, no flush.
import {
  builtInControllers,
  rolloutController,
  remoteContentController,
  renderController,
  renderedConfigsController,
} from '@slipway/controllers';
import { createClient, createLog, createTransport, loadKubeconfig, type Transport } from '@slipway/kube';
import { runControllers } from '@slipway/testing/run-controllers';

const [kubeconfig = '', numberText = '', when = ''] = process.argv.slice(2);
const fatal = Number(numberText);
const NAMESPACE = 'openshift-machine-config-operator';
const CONTROLLER_VERSION = '0.0.0-killed';

let writes = 0;

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

function killing(transport: Transport): Transport {
  return {
    ...transport,
    async json(request) {
      const isWrite = request.method !== 'GET' && !request.path.includes('/events');
      // Rollouts are killed at each of their writes in a test of their own.
      const isRollout = request.query?.['fieldManager'] === 'slipway-rollout';
      if (!isWrite || isRollout) return transport.json(request);
      writes += 1;
      const number = writes;
      process.stdout.write(`${number} ${request.method} ${request.path}\n`);
      if (number === fatal && when === 'before') return die();
      const answer = await transport.json(request);
      return number === fatal && when === 'after' ? die() : answer;
    },
  };
}

const log = createLog({ name: 'killed', level: 'warn', pretty: false, write: (line) => process.stderr.write(line) });
const client = createClient(killing(createTransport(await loadKubeconfig([kubeconfig]))));
const controllers = [
  ...builtInControllers({ controllerVersion: CONTROLLER_VERSION }),
  remoteContentController({ namespace: NAMESPACE, hosts: { allowAddresses: ['127.0.0.0/8'] } }),
  renderController({ namespace: NAMESPACE, controllerVersion: CONTROLLER_VERSION }),
  renderedConfigsController({ keep: 3 }),
  rolloutController(),
];
const running = runControllers(client, controllers, { log, stopBoundMs: 20_000 });
process.once('SIGTERM', () => {
  void running.stop().then(() => process.exit(0));
});
