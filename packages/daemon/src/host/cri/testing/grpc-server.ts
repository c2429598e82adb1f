// A real gRPC server on a separate socket that answers with raw bytes, so that the client is not tested against its own
// schema, and answers can be malformed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';

export type UnaryHandler = (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => void;

export interface GrpcServer {
  readonly socket: string;
  /** By the last part of their path. May be changed while it runs. */
  readonly answers: Partial<Record<'Version' | 'ListImages' | 'ImageFsInfo' | 'PullImage', UnaryHandler>>;
  /** Cuts connections during calls. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

const PATHS = {
  Version: '/runtime.v1.RuntimeService/Version',
  ListImages: '/runtime.v1.ImageService/ListImages',
  ImageFsInfo: '/runtime.v1.ImageService/ImageFsInfo',
  PullImage: '/runtime.v1.ImageService/PullImage',
} as const;

const asTheyAre = (bytes: Buffer): Buffer => bytes;

export async function startGrpcServer(): Promise<GrpcServer> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-cri-'));
  const socket = join(directory, 'crio.sock');
  const answers: GrpcServer['answers'] = {};
  let server: Server | undefined;

  async function start(): Promise<void> {
    const next = new Server();
    for (const [name, path] of Object.entries(PATHS)) {
      const method = {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: asTheyAre,
        requestDeserialize: asTheyAre,
        responseSerialize: asTheyAre,
        responseDeserialize: asTheyAre,
      };
      const handle: UnaryHandler = (call, respond) => {
        const given = Object.entries(answers).find(([key]) => key === name)?.[1];
        if (given === undefined) respond({ code: status.UNIMPLEMENTED, details: `no ${name} here` });
        else given(call, respond);
      };
      next.addService({ [name]: method }, { [name]: handle });
    }
    await new Promise<void>((resolve, reject) => {
      next.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    server = next;
  }

  async function stop(): Promise<void> {
    server?.forceShutdown();
    server = undefined;
    // A runtime that was killed or stopped recreates the socket.
    await rm(socket, { force: true });
  }

  await start();
  return {
    socket,
    answers,
    start,
    stop,
    async remove() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
