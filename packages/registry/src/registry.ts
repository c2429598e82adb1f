// What the rest of the house knows of a registry.

export interface Layer {
  readonly digest: string;
  readonly mediaType: string;
  /** As it is transferred. */
  readonly size: number;
}

export interface Platform {
  readonly os: string;
  /** As OCI names it: amd64, arm64, ppc64le, s390x. */
  readonly architecture: string;
}

/** One image, for one platform. */
export interface InspectedImage {
  /** What was asked for, by digest: of the index where it is one. */
  readonly reference: string;
  /** Of the manifest for the platform. */
  readonly digest: string;
  readonly platform: Platform;
  readonly labels: Readonly<Record<string, string>>;
  /** From the lowest to the topmost. */
  readonly layers: readonly Layer[];
  /** Of all layers and the config, as they are transferred. */
  readonly size: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Registry {
  /** Manifest and labels, kept by digest: asked for again it costs nothing. */
  inspect(reference: string, options?: RequestOptions): Promise<InspectedImage>;
  /** The layers alone, from the lowest to the topmost: one request less than `inspect`, where only sizes are asked for. */
  layers(reference: string, options?: RequestOptions): Promise<readonly Layer[]>;
  /** One file out of the layers, from the topmost down, no more of them than needed. Null: the image has no such file. */
  readFile(
    reference: string,
    path: string,
    options: RequestOptions & { readonly maxBytes: number },
  ): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/**
 * A registry or a part of one, and where else its images are. The most specific source counts; several rules may name
 * it: their mirrors are asked in order, and one of them is enough to keep us from the source.
 */
export interface MirrorRule {
  /** A host, or a host and the beginning of a path; `*.example.com` for all below it. */
  readonly source: string;
  /** In the order they are asked. */
  readonly mirrors: readonly Mirror[];
  /** Whether the source itself is asked when no mirror has the image. */
  readonly fallback: boolean;
  /** Which references a mirror may answer: a tag can mean another image there. */
  readonly for: 'digests' | 'tags' | 'all';
  /** Nothing may come from the source. */
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

export interface RegistryOptions {
  /** By scope, such as `registry.example.com/team`; the most specific one wins. From `parsePullSecret`. */
  readonly credentials?: ReadonlyMap<string, Credential> | undefined;
  readonly mirrors?: readonly MirrorRule[] | undefined;
  /** Hosts with port that are spoken to without TLS. Nobody else is. */
  readonly plainHttp?: readonly string[] | undefined;
  /** More authorities to trust, in PEM, beside those of the system. */
  readonly ca?: string | undefined;
  /** Picked out of an index. Left out: linux on the architecture of this process. */
  readonly platform?: Platform | undefined;
  /** How long a request may be silent, in milliseconds. */
  readonly silenceMs?: number | undefined;
  /** How often a request that may succeed later is tried again. */
  readonly retries?: number | undefined;
  /** Requests at once, to one host. */
  readonly atOnce?: number | undefined;
  /** How long the transfer of one layer may take in all, in milliseconds. */
  readonly layerMs?: number | undefined;
  /** How large a layer may be unpacked. */
  readonly layerBytes?: number | undefined;
}
