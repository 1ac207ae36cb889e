module selene

go 1.19
