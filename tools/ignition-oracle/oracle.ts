import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { resolveOracle } from './binary.ts';
import { OracleError } from './errors.ts';

export { OracleError, resolveOracle };

export interface OracleEntry {
  kind: 'error' | 'warning' | 'info';
  path: string;
  message: string;
}

export interface OracleRequest {
  op: 'parse' | 'validate' | 'translate' | 'merge' | 'schema' | 'rusage' | 'bench' | 'fold';
  /** An object, or a string of the exact bytes. */
  configs?: readonly (string | object)[];
  to?: string;
  /** For `bench` only: how often to merge. */
  times?: number;
}

export interface OracleResponse {
  result: unknown;
  report: OracleEntry[];
  /** Where the Go program stopped: distinguishes the verdicts of decoding and of validation. */
  stage: 'decode' | 'validate' | 'translate' | 'merge' | 'done' | 'panic' | 'line';
  /** The validator's report on a merged result. */
  merged?: OracleEntry[];
  panic?: boolean;
}

interface Waiting {
  resolve: (line: string) => void;
  reject: (error: Error) => void;
}

/** The real Ignition library behind a pipe: requests as lines, responses in the same order. */
export class Oracle {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting: Waiting[] = [];
  #unfinished: Buffer[] = [];
  #errors = '';
  #ended: Error | undefined;

  constructor(binary: string) {
    this.#process = spawn(binary, [], { stdio: 'pipe' });
    this.#process.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-4000);
    });
    // A write to a process that has just exited fails too; the exit is more informative.
    this.#process.stdin.on('error', () => undefined);
    this.#process.on('error', (error) => this.#fail(error));
    this.#process.on('close', (code, signal) =>
      this.#fail(
        new OracleError('SLW_ORACLE_ENDED', `the Ignition oracle exited (${signal ?? code}): ${this.#errors}`),
      ),
    );
  }

  /** Builds the program if the user's cache does not contain it yet, and starts it. */
  static async start(): Promise<Oracle> {
    return new Oracle(await resolveOracle());
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async ask(request: OracleRequest): Promise<OracleResponse> {
    const [answer] = await this.askAll([request]);
    if (answer === undefined) throw new OracleError('SLW_ORACLE_ENDED', 'the Ignition oracle did not respond');
    return answer;
  }

  /** All responses, in the order of the requests. Writing waits while the pipe is full. */
  async askAll(requests: readonly OracleRequest[]): Promise<OracleResponse[]> {
    const lines = requests.map((request, id) => `${JSON.stringify({ id, ...request })}\n`);
    const answers = Promise.all(lines.map(() => this.#nextLine()));
    // The writer may fail first: then the responses fail with the same reason, and that rejection must be handled.
    answers.catch(() => undefined);
    for (const line of lines) {
      if (this.#ended !== undefined) break;
      if (!this.#process.stdin.write(line)) await this.#drained();
    }
    // Both ends of this protocol belong to the project: the shape of a response is known.
    return (await answers).map((line) => JSON.parse(line) as OracleResponse);
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = once(this.#process, 'close');
    this.#process.stdin.end();
    await closed;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#process.stdin.off('drain', done);
        this.#process.off('close', done);
        resolve();
      };
      this.#process.stdin.once('drain', done);
      this.#process.once('close', done);
    });
  }

  #nextLine(): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#ended === undefined) this.#waiting.push({ resolve, reject });
      else reject(this.#ended);
    });
  }

  #receive(chunk: Buffer): void {
    const NEWLINE = 10;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#unfinished.push(chunk.subarray(start, end));
      this.#waiting.shift()?.resolve(Buffer.concat(this.#unfinished).toString('utf8'));
      this.#unfinished = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#unfinished.push(chunk.subarray(start));
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#ended);
  }
}
