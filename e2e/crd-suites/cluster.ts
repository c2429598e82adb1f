import { createTransport, isKubeError, loadKubeconfig } from '@slipway/kube';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer of the API server, be it a refusal. */
export type ApiResponse<T = Record<string, unknown>> =
  | { ok: true; body: T }
  | { ok: false; status: number; message: string };

/** The API server, as a suite talks to it: a refusal is an answer like any other. A patch is a JSON patch. */
export interface Cluster {
  request<T = Record<string, unknown>>(method: Method, path: string, body?: object): Promise<ApiResponse<T>>;
  close(): Promise<void>;
}

export async function connectToCluster(kubeconfig: string): Promise<Cluster> {
  const transport = createTransport(await loadKubeconfig([kubeconfig]));
  return {
    async request<T>(method: Method, path: string, body?: object): Promise<ApiResponse<T>> {
      const [pathname = '', query = ''] = path.split('?');
      try {
        const answer = await transport.json({
          method,
          path: pathname,
          query: Object.fromEntries(new URLSearchParams(query)),
          body,
          contentType: method === 'PATCH' ? 'application/json-patch+json' : undefined,
          retry: method === 'GET' ? 'always' : 'unsent',
          what: `${method} ${path}`,
        });
        return { ok: true, body: answer as T };
      } catch (error) {
        if (!isKubeError(error) || error.status === undefined) throw error;
        return { ok: false, status: error.status, message: error.message.replace(`${method} ${path}: `, '') };
      }
    },
    close: () => transport.close(),
  };
}
