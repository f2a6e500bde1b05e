import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type * as Aws from '@aws-sdk/client-s3';
import type { Settings } from '../../common/settings/settings.js';
import type { S3Settings } from '../../common/settings/sink-settings.js';
import { OBJECT_STORE_TIMEOUTS } from '../../common/net/store-timeouts.js';
import { EgressAgent } from '../../egress/egress-agent.js';
import { operatorEgress } from '../../egress/operator-egress.js';

/** A part of an object. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface ObjectFacts {
  readonly type: string;
  readonly encoding?: string;
}

const CONNECTIONS = 16;
const TRIES = 3;

/** Time limits for the bucket, milliseconds. */
interface Waits {
  /** Without a byte in either direction. Large files may take as long as data flows. */
  readonly idleMs: number;
  /** For part of an object, retries included: a user may be waiting. */
  readonly readMs: number;
}

const USUAL_WAITS: Waits = {
  idleMs: OBJECT_STORE_TIMEOUTS.files.commandMs,
  readMs: OBJECT_STORE_TIMEOUTS.parts.commandMs,
};

type Sdk = typeof Aws;
interface OpenedStore {
  readonly sdk: Sdk;
  readonly client: Aws.S3Client;
  close(): Promise<void>;
}

/**
 * The operator's bucket. Keys are given without the configured prefix. Amazon's package is loaded on first use, so a process that never
 * uses the bucket does not pay for it. Its sockets are opened by the egress, and only the configured credentials are used.
 */
export class ObjectStore {
  private opened: Promise<OpenedStore> | undefined;

  constructor(
    private readonly s3: S3Settings,
    private readonly settings: Pick<Settings, 'egressAllow' | 'timeouts'>,
    private readonly waits = USUAL_WAITS,
  ) {}

  async put(key: string, body: Buffer, facts: ObjectFacts, signal?: AbortSignal): Promise<void> {
    await this.putObject(key, { body, length: body.length }, facts, signal);
  }

  async putFile(key: string, path: string, length: number, facts: ObjectFacts): Promise<void> {
    await this.putObject(key, { body: createReadStream(path), length }, facts);
  }

  /** A complete byte range; null when the object does not exist. Rejects when the object is shorter or the time limit passes. */
  async read(key: string, range: ByteRange): Promise<Buffer | null> {
    const { sdk } = await this.open();
    try {
      return await this.part(key, range, AbortSignal.timeout(this.waits.readMs));
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) return null;
      throw error;
    }
  }

  private async part(key: string, { offset, length }: ByteRange, abortSignal: AbortSignal): Promise<Buffer> {
    const { sdk, client } = await this.open();
    const range = `bytes=${offset}-${offset + length - 1}`;
    const answer = await client.send(
      new sdk.GetObjectCommand({ Bucket: this.s3.bucket, Key: this.keyOf(key), Range: range }),
      { abortSignal },
    );
    if (answer.ContentLength !== length) {
      (answer.Body as Readable | undefined)?.destroy();
      throw new Error('The object is not as long as it was.');
    }
    return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
  }

  /** Null when the object does not exist. The stream must be read to its end or destroyed. */
  async stream(key: string): Promise<{ readonly stream: Readable; readonly length: number } | null> {
    const { sdk, client } = await this.open();
    try {
      const { Body, ContentLength } = await client.send(
        new sdk.GetObjectCommand({ Bucket: this.s3.bucket, Key: this.keyOf(key) }),
      );
      return { stream: Body as Readable, length: ContentLength ?? 0 };
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) return null;
      throw error;
    }
  }

  async remove(key: string, signal?: AbortSignal): Promise<void> {
    const { sdk, client } = await this.open();
    await client.send(
      new sdk.DeleteObjectCommand({ Bucket: this.s3.bucket, Key: this.keyOf(key) }),
      signal ? { abortSignal: signal } : {},
    );
  }

  /** Keys in a folder (given with its trailing slash), one page at a time. */
  async *keys(folder: string): AsyncGenerator<readonly string[]> {
    yield* this.pages(folder, ({ Contents = [] }) => Contents.flatMap(({ Key }) => Key ?? []));
  }

  /** Direct subfolders, each with a trailing slash. */
  async *folders(folder: string): AsyncGenerator<readonly string[]> {
    yield* this.pages(
      folder,
      ({ CommonPrefixes = [] }) => CommonPrefixes.flatMap(({ Prefix }) => Prefix ?? []),
      '/',
    );
  }

  async close(): Promise<void> {
    await (await this.opened)?.close();
  }

  private async putObject(
    key: string,
    { body, length }: { readonly body: Buffer | Readable; readonly length: number },
    { type, encoding }: ObjectFacts,
    signal?: AbortSignal,
  ): Promise<void> {
    const { sdk, client } = await this.open();
    await client.send(
      new sdk.PutObjectCommand({
        Bucket: this.s3.bucket,
        Key: this.keyOf(key),
        Body: body,
        ContentLength: length,
        ContentType: type,
        ContentEncoding: encoding,
      }),
      signal ? { abortSignal: signal } : {},
    );
  }

  private async *pages(
    folder: string,
    read: (page: Awaited<ReturnType<typeof listed>>) => string[],
    delimiter?: string,
  ): AsyncGenerator<readonly string[]> {
    const opened = await this.open();
    const request = { Bucket: this.s3.bucket, Prefix: this.keyOf(folder), Delimiter: delimiter };
    let token: string | undefined;
    do {
      const page = await listed(opened, { ...request, ContinuationToken: token });
      yield read(page).map((key) => key.slice(this.s3.prefix.length));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  private keyOf(key: string): string {
    return this.s3.prefix + key;
  }

  private open(): Promise<OpenedStore> {
    this.opened ??= this.load();
    return this.opened;
  }

  /** Stores other than Amazon's get path-style addresses and no checksums beyond the signature's, because not all of them support more. */
  private async load(): Promise<OpenedStore> {
    const sdk = await import('@aws-sdk/client-s3');
    const { endpoint, region, accessKeyId, secretAccessKey } = this.s3;
    const egress = operatorEgress(this.settings, endpoint, CONNECTIONS);
    const agents = {
      plain: new EgressAgent(egress, false, CONNECTIONS),
      tls: new EgressAgent(egress, true, CONNECTIONS),
    };
    const client = new sdk.S3Client({
      region,
      ...(endpoint ? { endpoint: endpoint.href, forcePathStyle: true } : {}),
      credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
      maxAttempts: TRIES,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        httpAgent: agents.plain,
        // Node only checks that the protocol matches; this is not an `https.Agent`, because the egress does TLS itself.
        httpsAgent: agents.tls as never,
        connectionTimeout: OBJECT_STORE_TIMEOUTS.files.connectMs,
        // `requestTimeout` only warns, and would limit the whole transfer of a large file.
        socketTimeout: this.waits.idleMs,
      },
    });
    const close = async (): Promise<void> => {
      client.destroy();
      agents.plain.destroy();
      agents.tls.destroy();
      await egress.close();
    };
    return { sdk, client, close };
  }
}

function listed(
  { sdk, client }: OpenedStore,
  request: ConstructorParameters<Sdk['ListObjectsV2Command']>[0],
) {
  return client.send(new sdk.ListObjectsV2Command(request));
}
