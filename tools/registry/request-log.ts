/** A request that the registry has answered. */
export interface LoggedRequest {
  method: string;
  /** With the query, such as `/v2/team/image/manifests/latest`. */
  uri: string;
  status: number;
  /** Of the body, as far as they went out. */
  bytes: number;
}

/** The answered requests among these lines of the registry's log. */
export function readRequests(log: string): LoggedRequest[] {
  return log.split('\n').flatMap((line) => {
    // The registry says of a response when it begins to be an error, and of every one when it is done.
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
