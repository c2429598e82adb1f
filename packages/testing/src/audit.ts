// Reads the requests that kube-apiserver has recorded in its audit log. Every control plane on loan to a test has one.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { until } from './wait.ts';

export interface AuditedRequest {
  /** Such as `patch machinesets/status openshift-machine-api/a 200`. */
  readonly text: string;
  readonly verb: string;
  readonly user: string;
  /** The plural, with its subresource. */
  readonly resource: string;
  /** With the namespace. */
  readonly name: string;
  readonly code: number;
  readonly receivedAt: Date;
  readonly answeredAt: Date;
}

interface Line {
  readonly verb: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code?: number };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Events are excluded: they report and change nothing. */
export const isWrite = ({ verb, resource }: AuditedRequest): boolean => writing.has(verb) && resource !== 'events';

/** All completed requests in order, optionally of one user. */
export async function readAuditLog(auditLog: string, user?: string): Promise<AuditedRequest[]> {
  const requests: AuditedRequest[] = [];
  for await (const text of createInterface({ input: createReadStream(auditLog) })) {
    // Most lines belong to other users, and the last line may be incomplete.
    if ((user !== undefined && !text.includes(user)) || !text.endsWith('}')) continue;
    const request = describeRequest(JSON.parse(text) as Line);
    if (user === undefined || request.user === user) requests.push(request);
  }
  return requests;
}

/** The log is written shortly after the response: waits until it has stopped growing. */
export async function readSettledAuditLog(auditLog: string, user: string): Promise<AuditedRequest[]> {
  let before = -1;
  let readAt = -Infinity;
  return until(async () => {
    if (performance.now() - readAt < 300) throw new Error('not yet');
    const requests = await readAuditLog(auditLog, user);
    const isSettled = requests.length === before;
    before = requests.length;
    readAt = performance.now();
    if (!isSettled) throw new Error(`${user} has made ${before} requests so far`);
    return requests;
  });
}

function describeRequest(line: Line): AuditedRequest {
  const { verb, objectRef = {} } = line;
  const { resource: plural = '', subresource, namespace, name: own = '' } = objectRef;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const name = namespace === undefined ? own : `${namespace}/${own}`;
  const code = line.responseStatus?.code ?? 0;
  return {
    text: `${verb} ${resource} ${name} ${code}`,
    verb,
    user: line.user.username,
    resource,
    name,
    code,
    receivedAt: new Date(line.requestReceivedTimestamp),
    answeredAt: new Date(line.stageTimestamp),
  };
}
