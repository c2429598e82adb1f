// The public types of the registry client.

export interface Layer {
  readonly digest: string;
  readonly mediaType: string;
  /** Compressed, as transferred. */
  readonly size: number;
}

export interface Platform {
  readonly os: string;
  /** OCI name: amd64, arm64, ppc64le, s390x. */
  readonly architecture: string;
}

/** One image, for one platform. */
export interface InspectedImage {
  /** The requested image by digest: that of the index, if it is one. */
  readonly reference: string;
  /** Digest of the manifest for the platform. */
  readonly digest: string;
  readonly platform: Platform;
  readonly labels: Readonly<Record<string, string>>;
  /** From bottom to top. */
  readonly layers: readonly Layer[];
  /** Size of all layers and the config, compressed. */
  readonly size: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Registry {
  /** Manifest and labels. Cached by digest, so repeated calls are free. */
  inspect(reference: string, options?: RequestOptions): Promise<InspectedImage>;
  /** Only the layers, from bottom to top: one request less than `inspect`. */
  layers(reference: string, options?: RequestOptions): Promise<readonly Layer[]>;
  /** Reads one file, fetching layers from the top down until it is found. Null: the image has no such file. */
  readFile(
    reference: string,
    path: string,
    options: RequestOptions & { readonly maxBytes: number },
  ): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/**
 * A registry, or a part of one, and the mirrors of its images. The rules with the most specific matching source apply.
 * If there are several, their mirrors are tried in order, and a single rule can forbid contacting the source.
 */
export interface MirrorRule {
  /** A host, a host and a path prefix, or `*.example.com` for all hosts below it. */
  readonly source: string;
  /** In the order in which they are tried. */
  readonly mirrors: readonly Mirror[];
  /** Whether the source is tried when no mirror has the image. */
  readonly fallback: boolean;
  /** Which references may be pulled from a mirror, where a tag can mean another image. */
  readonly for: 'digests' | 'tags' | 'all';
  /** Nothing may be pulled from the source. */
  readonly blocked: boolean;
}

export interface Mirror {
  readonly location: string;
  readonly plainHttp: boolean;
}

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** Why a host at these addresses must not send clients to this address; null if it may. */
export type RedirectRule = (from: readonly string[], to: string) => string | null;

/** What every client needs. */
export interface RegistryRules {
  /** Applies to redirects and to token servers: a registry must not choose an address in our network. */
  readonly redirectRule: RedirectRule;
}

export interface RegistryOptions {
  /** By scope, such as `registry.example.com/team`; the most specific one wins. From `parsePullSecret`. */
  readonly credentials?: ReadonlyMap<string, Credential> | undefined;
  readonly mirrors?: readonly MirrorRule[] | undefined;
  /** Hosts (with port) that are contacted without TLS. All others require TLS. */
  readonly plainHttp?: readonly string[] | undefined;
  /** PEM certificates of authorities to trust in addition to those of the system. */
  readonly ca?: string | undefined;
  /** Selects the image from an index. Default: linux on the architecture of this process. */
  readonly platform?: Platform | undefined;
  /** Timeout without data, in milliseconds. */
  readonly silenceMs?: number | undefined;
  /** Retries after transient failures. */
  readonly retries?: number | undefined;
  /** Concurrent requests per host. */
  readonly atOnce?: number | undefined;
  /** Timeout for the transfer of one layer, in milliseconds. */
  readonly layerMs?: number | undefined;
  /** Maximum uncompressed size of a layer. */
  readonly layerBytes?: number | undefined;
}
