-- For tests alone: a fleet whose clock is told. What is installed has no such thing.
create table selene.told (now bigint not null);
insert into selene.told values (0);
create or replace function selene.now_ns() returns bigint language sql volatile as 'select now from selene.told';
create function selene.set_time(now bigint) returns void language sql as 'update selene.told set now = set_time.now';
