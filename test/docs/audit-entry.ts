import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class AuditEntry {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text')
  text!: string;
}
