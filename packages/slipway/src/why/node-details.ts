// The details of a node's problem, from the journal of its machine through the kubelet's log query.
import { DAEMON_SERVICE, readDetails } from '@slipway/fleet';
import { type Client, isKubeError } from '@slipway/kube';

/** More than the daemon writes about one problem. */
const TAIL_LINES = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Empty: the log query is off, the user may not use it, the kubelet does not respond, or the journal has no details. */
export async function readNodeDetails({ transport }: Client, node: string): Promise<readonly string[]> {
  try {
    const answer = await transport.open({
      method: 'GET',
      path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy/logs/`,
      query: { query: DAEMON_SERVICE, tailLines: String(TAIL_LINES) },
      accept: 'text/plain',
      what: `read the log of ${DAEMON_SERVICE} on Node ${node}`,
      retry: 'never',
      timeoutMs: TIMEOUT_MS,
      silenceMs: TIMEOUT_MS,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer) {
      size += chunk.length;
      if (size > MAX_BYTES) break;
      chunks.push(chunk);
    }
    answer.destroy();
    // Without the log query, a kubelet ignores its parameters and lists the files in /var/log, as HTML.
    return readDetails(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (isKubeError(error)) return [];
    throw error;
  }
}
