/** A completed request to the registry. */
export interface LoggedRequest {
  method: string;
  /** With the query, such as `/v2/team/image/manifests/latest`. */
  uri: string;
  status: number;
  /** Body bytes that were sent. */
  bytes: number;
}

/** The completed requests among these lines of the registry's log. */
export function readRequests(log: string): LoggedRequest[] {
  return log.split('\n').flatMap((line) => {
    // The registry logs an error when its response starts, and every response when it is complete.
    if (!line.startsWith('{') || !line.includes('"response completed')) return [];
    const entry = JSON.parse(line) as Record<string, unknown>;
    return {
      method: String(entry['http.request.method']),
      uri: String(entry['http.request.uri']),
      status: Number(entry['http.response.status']),
      bytes: Number(entry['http.response.written']),
    };
  });
}
