import type { SecretBox, WrappedKey } from '../../common/crypto/envelope.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { ByteRange, ObjectStore } from './object-store.js';

/** Identifies a body of a request, with its day and workspace. */
export interface BodyName {
  readonly requestId: string;
  readonly direction: string;
}

export interface BodyToKeep extends BodyName {
  readonly bytes: Buffer;
}

/** Location of a body in the bucket. */
export interface BodyLocation extends ByteRange {
  readonly key: string;
}

export interface BodyFolder {
  readonly organizationId: string;
  readonly workspaceId: string | null;
  /** Day of arrival in UTC, `YYYY-MM-DD`. */
  readonly day: string;
}

/** Contains a folder per organization, and in it one per day. */
export const BODY_FOLDER = 'bodies/';
const SHARED = 'none';

/**
 * The owner of the bodies in an object, by its key (with the bucket's prefix, if it has one); null if the key is not that of a bodies
 * object.
 */
export function bodyOwner(key: string): Omit<BodyFolder, 'day'> | null {
  const [, organizationId, workspaceId] = OWNER.exec(key) ?? [];
  if (!organizationId || !workspaceId) return null;
  return { organizationId, workspaceId: workspaceId === SHARED ? null : workspaceId };
}

const OWNER = /(?:^|\/)bodies\/([^/]+)\/\d{4}-\d{2}-\d{2}\/([^/]+)\//;

const purposeOf = ({ requestId, direction }: BodyName): string[] => ['request body', requestId, direction];

/**
 * Bodies in the bucket. Bodies of one workspace and day that are stored together share one object, because stores charge per object. Each
 * body is sealed separately with its organization's key: read access to the bucket reveals nothing, and a body moved to another request
 * does not open.
 */
export class BodyObjects {
  constructor(
    private readonly store: ObjectStore,
    private readonly box: SecretBox,
  ) {}

  /** Resolves with the locations, in order, once the bucket has the bodies. */
  async put(
    key: WrappedKey,
    { organizationId, workspaceId, day }: BodyFolder,
    bodies: readonly BodyToKeep[],
    signal?: AbortSignal,
  ): Promise<readonly BodyLocation[]> {
    const name = `${BODY_FOLDER}${organizationId}/${day}/${workspaceId ?? SHARED}/${uuidV7(Date.now())}`;
    const sealed = bodies.map((body) => this.box.sealOwn(key, purposeOf(body), body.bytes));
    let offset = 0;
    const places = sealed.map(({ length }) => {
      const place = { key: name, offset, length };
      offset += length;
      return place;
    });
    await this.store.put(name, Buffer.concat(sealed), { type: 'application/octet-stream' }, signal);
    return places;
  }

  /** Null when its object was removed. */
  async read(key: WrappedKey, name: BodyName, place: BodyLocation): Promise<Buffer | null> {
    const sealed = await this.store.read(place.key, place);
    return sealed && this.box.openOwn(key, purposeOf(name), sealed);
  }
}
