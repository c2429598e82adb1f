import type { ServerResponse } from 'node:http';

export interface SendLimits {
  /** How much of an answer is encrypted ahead of what the client has taken. */
  pieceBytes: number;
  /** A client that takes nothing for so long is cut off. */
  stallMs: number;
  /** And one that is not done after so long. */
  totalMs: number;
}

/** A client that does not take its bytes is cut off, whatever is being sent. */
export function boundSending(response: ServerResponse, { stallMs, totalMs }: SendLimits): void {
  const cut = (): void => {
    response.destroy();
  };
  const total = setTimeout(cut, totalMs);
  response.setTimeout(stallMs, cut);
  response.on('close', () => clearTimeout(total));
}

/**
 * Sends the bytes piece by piece, each when the one before has left: a thousand clients at once hold a thousand pieces,
 * not a thousand answers. The bytes themselves are shared.
 */
export function sendInPieces(response: ServerResponse, bytes: Buffer, pieceBytes: number): void {
  let at = 0;
  const sendMore = (): void => {
    while (at + pieceBytes < bytes.length) {
      const piece = bytes.subarray(at, at + pieceBytes);
      at += pieceBytes;
      if (!response.write(piece)) {
        response.once('drain', sendMore);
        return;
      }
    }
    response.end(bytes.subarray(at));
  };
  sendMore();
}
