import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { ObjectLiteral, Repository } from 'typeorm';
import { UnitOfWork } from './unit-of-work.js';

/**
 * `TypeOrmModule.forFeature` for modules of the administration. An injected repository works in the transaction of the current request,
 * where the tenant is set and the audit record is written; TypeORM's own would write outside it. Use: `imports:
 * [TransactionRepositories.forFeature(Session)]`, then `@InjectRepository(Session)`.
 */
@Module({})
export class TransactionRepositories {
  static forFeature(...entities: readonly Type<ObjectLiteral>[]): DynamicModule {
    const providers = entities.map((entity) => ({
      provide: getRepositoryToken(entity),
      inject: [UnitOfWork],
      useFactory: (unitOfWork: UnitOfWork) => repositoryOf(entity, unitOfWork),
    }));
    return { module: TransactionRepositories, providers, exports: providers };
  }
}

/** Each access uses the repository of the current transaction. */
function repositoryOf<T extends ObjectLiteral>(entity: Type<T>, unitOfWork: UnitOfWork): Repository<T> {
  return new Proxy({} as Repository<T>, {
    get: (_, name) => {
      const repository = unitOfWork.repository(entity);
      const member: unknown = Reflect.get(repository, name);
      return typeof member === 'function' ? (member.bind(repository) as unknown) : member;
    },
  });
}
